# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Compares the tables printed in docs/seeds.md with the CSV files of tests/seeds:
#
#	awk -f tests/seeds/tables.awk -v dir=docs/seeds docs/seeds.md
#
# prints one line for each cell that differs, and for each table without a source.  With
# -v update=1 it prints the page with the numbers of the CSV files instead, with as many decimals
# as on the page.  With -v times=0 it does not compare running times, which differ between machines.
#
# The line above a table names its source:
#
#	<!-- csv: FILE [transposed] [keys=N] [varies=ROW] [| SOURCE]... -->
#	<!-- csv: none -->
#
# FILE is a file of DIR without ".csv".  If FILE is "transposed", its columns are taken as rows.
# "keys": a row of the table and a row of FILE correspond if their first N cells are the same
# (default: 1).  "varies": the row that begins with ROW differs between runs, like a running time.
#
# Each column of the table after the first N has a SOURCE.  Without any SOURCE, the columns are
# those of FILE after its first N.  A SOURCE is empty if the column is not in a file, or
#
#	[~][[FILE:]KEY@]COLUMN[!DEADLOCKS]
#
# "~" marks a running time.  KEY is the beginning of a row of the file, with commas between the
# cells.  {1} stands for the first cell of the table's row, * for any cell.  COLUMN is a number.
# DEADLOCKS is the number of a column; if its value is not 0, " deadlock" follows the value in the
# table.
#
# A printed number is the value of the file, rounded to the printed number of decimals.  Commas
# between thousands, and " %", are ignored.

function trim(s)
{
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	return s
}

function numeric(s) { return s ~ /^-?[0-9]+(\.[0-9]+)?$/ }

# A cell without thousands separators, " %" and " deadlock".
function plain(s)
{
	s = trim(s)
	sub(/ (%|deadlock)$/, "", s)
	if (s ~ /^-?[0-9][0-9,]*(\.[0-9]+)?$/)
		gsub(/,/, "", s)
	return s
}

# True if cell A of a table and cell B of a file are equal.  "4-ary 3-tree" equals "4-ary-3-tree".
function same_key(a, b)
{
	a = plain(a)
	if (numeric(a) && numeric(b))
		return a + 0 == b + 0
	gsub(/-/, " ", a)
	gsub(/-/, " ", b)
	return a == b
}

function load_csv(file,    path, line, n, i, part)
{
	if (file in rows)
		return
	path = dir "/" file ".csv"
	rows[file] = 0
	while ((getline line < path) > 0) {
		rows[file]++
		n = split(line, part, ",")
		if (n > columns[file])
			columns[file] = n
		for (i = 1; i <= n; i++)
			csv[file, rows[file], i] = part[i]
	}
	close(path)
	if (!rows[file])
		complain("there is no " path)
}

# The cell in row R and column C of FILE.  If FILE is transposed, C is its row and R its column.
function cell(file, r, c)
{
	return transposed ? csv[file, c, r] : csv[file, r, c]
}

# The row of FILE that begins with KEY, or 0.
function find_row(file, key,    n, part, r, i, last)
{
	load_csv(file)
	n = split(key, part, ",")
	last = transposed ? columns[file] : rows[file]
	for (r = 2; r <= last; r++) {
		for (i = 1; i <= n; i++)
			if (part[i] != "*" && !same_key(part[i], cell(file, r, i)))
				break
		if (i > n)
			return r
	}
	return 0
}

function complain(text) { if (!update) print FILENAME ":" FNR ": " text }

# VALUE with as many decimals as AS, and with commas if AS has commas.
function printed_as(value, as,    d, s, sign, t)
{
	d = as ~ /\./ ? length(as) - index(as, ".") : 0
	s = sprintf("%." d "f", value)
	if (as !~ /,/)
		return s
	sign = sub(/^-/, "", s) ? "-" : ""
	t = match(s, /\./) ? substr(s, RSTART) : ""
	s = t == "" ? s : substr(s, 1, RSTART - 1)
	while (length(s) > 3) {
		t = "," substr(s, length(s) - 2) t
		s = substr(s, 1, length(s) - 3)
	}
	return sign s t
}

# True if TEXT is VALUE, rounded to the decimals of TEXT.
function is_rounded(text, value,    d, half, difference)
{
	d = text ~ /\./ ? length(text) - index(text, ".") : 0
	half = 0.5 * 10 ^ -d
	difference = text - value
	return difference <= half + 1e-9 && -difference <= half + 1e-9
}

# Compare cell C of the row of the table with SOURCE.
function compare(c, source,    file, key, at, row, value, col, dead, text, suffix, i, want)
{
	if (source == "")
		return
	if (sub(/^~/, "", source) && times == 0)
		return
	file = table_file
	key = row_key
	if ((at = index(source, "@"))) {
		key = substr(source, 1, at - 1)
		source = substr(source, at + 1)
		if (match(key, /^[0-9][0-9][0-9]-[^:,{]*:/)) {
			file = substr(key, 1, RLENGTH - 1)
			key = substr(key, RLENGTH + 1)
		}
		for (i = 1; i <= n_cells; i++)
			gsub("\\{" i "\\}", plain(part_of[i]), key)
		if (key == "")
			key = row_key
	}
	dead = ""
	if ((at = index(source, "!"))) {
		dead = substr(source, at + 1)
		source = substr(source, 1, at - 1)
	}
	col = source + 0
	row = find_row(file, key)
	if (!row) {
		complain(file ".csv has no row '" key "'")
		return
	}
	value = cell(file, row, col)
	text = trim(part_of[c])
	want = plain(text)
	suffix = dead != "" && cell(file, row, dead + 0) > 0 ? " deadlock" : ""
	if (dead != "" && (text ~ / deadlock$/) != (suffix != "")) {
		complain("'" text "': " file ".csv has " cell(file, row, dead + 0) " deadlocks")
		changed[c] = printed_as(value, want) suffix
		return
	}
	if (numeric(want) && numeric(value)) {
		if (is_rounded(want, value))
			return
		complain("'" text "': " file ".csv has " value)
		i = text
		sub(/ (%|deadlock)$/, "", i)
		changed[c] = printed_as(value, i) substr(text, length(i) + 1)
	} else if (want != value) {
		complain("'" text "': " file ".csv has '" value "'")
		if (numeric(value))
			changed[c] = value
	}
}

BEGIN {
	if (times == "")
		times = 1
}

/^ *<!-- csv: / {
	line = $0
	sub(/^ *<!-- csv: */, "", line)
	sub(/ *-->.*/, "", line)
	n_sources = split(line, source_of, "|") - 1
	split(trim(source_of[1]), word, " ")
	table_file = word[1]
	transposed = source_of[1] ~ / transposed/
	keys = match(source_of[1], /keys=[0-9]+/) ? \
		substr(source_of[1], RSTART + 5, RLENGTH - 5) + 0 : 1
	varies = match(source_of[1], /varies=/) ? \
		trim(substr(source_of[1], RSTART + RLENGTH)) : ""
	announced = 1
	print_line($0)
	next
}

function print_line(s) { if (update) print s }

!/^ *\|/ {
	if (announced && !in_table)
		complain("no table follows the line that names its source")
	in_table = announced = 0
	print_line($0)
	next
}

!in_table {
	in_table = 1
	line_of_table = 1
	skip = !announced || table_file == "none"
	if (!announced && $0 !~ /^\| (item|test|script) \|/)
		complain("no line above this table names its source")
}

{ line_of_table++ }

skip || line_of_table <= 3 { print_line($0); next }

{
	n_cells = split($0, cell_of, "|") - 2
	for (i = 1; i <= n_cells; i++)
		part_of[i] = cell_of[i + 1]
	row_key = plain(part_of[1])
	for (i = 2; i <= keys; i++)
		row_key = row_key "," plain(part_of[i])
	split("", changed)
	for (i = keys + 1; i <= n_cells && (times || row_key != varies); i++)
		compare(i, n_sources ? trim(source_of[i - keys + 1]) : i)
	line = cell_of[1]
	for (i = 1; i <= n_cells; i++)
		line = line "|" (i in changed ? " " changed[i] " " : part_of[i])
	print_line(line "|")
}

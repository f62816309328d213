# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Claims of the scripts of tests/seeds, and the mutants that make them false:
#
#	awk -f tests/mutants/claims.awk [-v check=1] tests/seeds/0*.sh tests/mutants/*.patch
#
# prints a table for docs/seeds.md.  With check=1 it prints only claims that no mutant makes
# false, and claims of a patch that its script does not make; with where=1, only the places,
# "SCRIPT.sh:LINE", at which the scripts make the claims that the patches name.
#
# A claim is "claim TEXT CONDITION" (tests/seeds/run).  A patch names, after "Killed by: seeds
# SCRIPT", the claims that it makes false, "False: TEXT", as they are written in the script;
# "Expected: TEXT" if the mutant has not been run with this claim yet.

function base(file) {
	sub(/.*\//, "", file)
	sub(/\.(sh|patch)$/, "", file)
	return file
}

FNR == 1 { name = base(FILENAME); script = ""; head = 1 }

FILENAME ~ /\.sh$/ && match($0, /(^|[ \t])claim ["']/) {
	text = substr($0, RSTART + RLENGTH)
	sub(substr($0, RSTART + RLENGTH - 1, 1) "( .*)?$", "", text)
	claim[++n] = text
	line[n] = name ".sh:" FNR
	of[n] = name
	known[name, text] = n
}

/^(---|diff )/ { head = 0 }
FILENAME ~ /\.patch$/ && head && /^Killed by: / {
	script = $3 ~ /^seeds/ ? $4 : ""
}
FILENAME ~ /\.patch$/ && head && /^(False|Expected): / {
	text = $0
	sub(/^[A-Za-z]*: /, "", text)
	i = known[script, text]
	if (where && i)
		print line[i]
	if (!i && !where)
		printf "%s: %s makes no claim '%s'\n", FILENAME, script, text
	killed[i] = killed[i] (killed[i] ? ", " : "") name \
		(/^Expected/ ? " (not run)" : "")
}

END {
	if (where)
		exit
	if (!check)
		print "| script | claim | false with |\n|---|---|---|"
	for (i = 1; i <= n; i++)
		if (check && !killed[i])
			printf "tests/seeds/%s.sh: no mutant makes this claim false: %s\n", \
				of[i], claim[i]
		else if (!check) {
			gsub(/\|/, "\\|", claim[i])
			printf "| `%s` | %s | %s |\n", of[i], claim[i], \
				killed[i] ? killed[i] : "**none**"
		}
}

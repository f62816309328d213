# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Functions for the scripts that repeat experiments of Puente et al. 2004.

# runs: run the program immunet for each line NAME KEY=VALUE... of the input, two at a time.  The
# output of a run goes to the file NAME.
runs() {
	# shellcheck disable=SC2016
	xargs -P 2 -I '{}' bash -c '
		read -r -a w <<<"$2"
		"$1/immunet" "${w[@]:1}" >"${w[0]}"' _ "$build" '{}'
}

# mean_of NAME FILE...: print the mean VALUE of the lines "# NAME VALUE".  A file without such a
# line counts as 0.
mean_of() {
	local name=$1
	shift
	awk -v name="$name" '$1 == "#" && $2 == name { sum += $3 }
		END { printf "%.6g\n", sum / (ARGC - 1) }' "$@"
}

# mean COLUMN FROM TO FILE...: print the mean of a column over cycles FROM .. TO.
mean() {
	local column=$1 from=$2 to=$3
	shift 3
	awk -F, -v c="$column" -v from="$from" -v to="$to" '
	/^[0-9]/ && $1 >= from && $1 < to { sum += $c; n++ }
	END { printf "%.4g\n", n ? sum / n : 0 }' "$@"
}

# least FROM FILE...: for each file, take the minimum throughput from cycle FROM on; print the mean.
least() {
	local from=$1
	shift
	awk -F, -v from="$from" '
	FNR == 1 && NR > 1 { sum += low; low = "" }
	/^[0-9]/ && $1 >= from && (low == "" || $2 < low) { low = $2 }
	END { printf "%.4g\n", (sum + low) / (ARGC - 1) }' "$@"
}

# series COLUMN NAME=PATTERN...: print a CSV with a curve for each NAME.  The curve is the mean of
# the column over the files that match PATTERN.
series() {
	local column=$1 curve
	shift
	for curve; do
		# shellcheck disable=SC2086
		awk -F, -v c="$column" -v name="${curve%%=*}" '
		/^[0-9]/ { sum[$1] += $c; n[$1]++; if (!($1 in at)) { at[$1]; x[++k] = $1 } }
		END { for (i = 1; i <= k; i++)
			printf "%s|%s|%.4g\n", x[i], name, sum[x[i]] / n[x[i]] }' \
			${curve#*=}
	done | awk -F'|' '
	!($1 in seen) {
		seen[$1]
		for (i = ++rows; i > 1 && x[i - 1] + 0 > $1 + 0; i--)
			x[i] = x[i - 1]
		x[i] = $1
	}
	!($2 in col) { col[$2]; name[++cols] = $2 }
	{ v[$1, $2] = $3 }
	END {
		line = "cycle"
		for (j = 1; j <= cols; j++) line = line "," name[j]
		print line
		for (i = 1; i <= rows; i++) {
			line = x[i]
			for (j = 1; j <= cols; j++) line = line "," v[x[i], name[j]]
			print line
		}
	}'
}

# loss BEFORE AFTER: print the loss of throughput in per cent.
loss() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f\n", 100 * (1 - b / a) }'; }

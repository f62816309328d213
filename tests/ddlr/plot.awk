# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Makes a curve in SVG from the CSV of tests/ddlr/curve: awk -v kind=connected (or deadlock).
BEGIN {
	FS = ","
	left = 60; top = 40; wide = 520; high = 300; right = 190
	n_curves = split(kind == "deadlock" ? \
		"naive1 naive2 local1 local2" : \
		"physical full local2 local1 updown", curve, " ")
	split("#555555 #1b7837 #2166ac #d95f02 #b2182b", colour, " ")
	says["physical"] = "links connect"
	says["full"] = "full routing, ddlr"
	says["updown"] = "full routing, up/down"
	says["local1"] = "local, one VL"
	says["local2"] = "local, turn bit"
	says["naive1"] = "unchecked, one VL"
	says["naive2"] = "unchecked, turn bit"
}
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
{
	# only the shape is quoted and contains commas
	line = $0; shape = line; sub(/^"/, "", shape); sub(/".*/, "", shape)
	sub(/^"[^"]*"/, "shape", line)
	m = split(line, f, ",")
	runs = f[2]; x = f[3] + 0; last = x
	for (c = 1; c <= n_curves; c++) {
		# always 0: a local repair that would close a cycle is not made
		y = kind == "deadlock" && curve[c] ~ /^local/ ? 0 : \
			f[column[curve[c]]] + 0
		value[c, x] = y
		if (y < least || least == "") least = y
		if (y > most) most = y
	}
}
function px(x) { return left + wide * x / last }
function py(y) { return top + high * (1 - (y - low) / (up - low)) }
END {
	low = kind == "deadlock" ? 0 : 5 * int(least / 5)
	up = kind == "deadlock" ? 5 * int(most / 5 + 1) : 100
	if (low > 95) low = 95
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n", \
		left + wide + right, top + high + 60
	printf "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
	printf "<text x=\"%d\" y=\"22\">%s of %d runs, %s</text>\n", left, \
		kind == "deadlock" ? "per cent with a cycle of channel dependencies" : \
		"per cent with all hosts connected", runs, shape
	step = (up - low) / 5
	for (i = 0; i <= 5; i++) {
		y = low + i * step
		printf "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", left, left + wide, py(y), py(y)
		printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left - 6, py(y) + 4, y
	}
	for (x = 0; x <= last; x++)
		printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", px(x), top + high + 18, x
	printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">link faults</text>\n", left + wide / 2, top + high + 40
	for (c = 1; c <= n_curves; c++) {
		printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour[c]
		for (x = 0; x <= last; x++)
			printf "%.1f,%.1f ", px(x), py(value[c, x])
		printf "\"/>\n<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", left + wide + 12, top + 18 * c, colour[c], says[curve[c]]
	}
	# values in the text of Sem-Jacobsen et al. 2011, section IX-B
	if (shape == "kary:4,3" && kind == "connected") { paper(4, 100); paper(10, 97) }
	if (shape == "kary:4,3" && kind == "deadlock") { paper(4, 1); paper(7, 7); paper(10, 20) }
	if (shown)
		printf "<text x=\"%d\" y=\"%d\">o  the paper, by its text</text>\n", left + wide + 12, top + 18 * (n_curves + 1)
	print "</svg>"
}
function paper(x, y) {
	shown = 1
	printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"none\" stroke=\"black\"/>\n", px(x), py(y)
}

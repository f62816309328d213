# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Draws a fabric of "ibfattree gen" as SVG.  Call:
#
#	awk -v bound=FLOWS -f picture.awk WHOLE.net DAMAGED.net DAMAGED.lfts
#
# Links of WHOLE.net that are missing in DAMAGED.net are dashed.  FLOWS is the lower bound of the
# all-to-all load of the most loaded link.

function field(n, parts) {	# the n-th part of the line between quotation marks
	split($0, parts, "\"")
	return parts[2 * n]
}

FNR == 1 { file++ }

# ---- the fabrics: ibnetdiscover's format -----------------------------------------

file <= 2 && /^Switch/ {
	s = field(1)
	name[s] = field(2)
}

file <= 2 && /^Ca/ { s = "" }

file <= 2 && s != "" && /^\[/ {
	port = substr($1, 2) + 0
	far = field(1)
	if (file == 1 && far ~ /^S/)
		whole[s, far] = 1
	if (file == 1 && far ~ /^H/)
		hosts[s]++
	if (file == 2 && far ~ /^S/)
		alive[s, far] = 1
	if (file == 2)
		peer[s, port] = far
	if (file == 2 && match($0, /lid [0-9]+/) && far ~ /^H/)
		leaf_of[substr($0, RSTART + 4, RLENGTH - 4) + 0] = s
}

# ---- the tables: OpenSM's dump ---------------------------------------------------

file == 3 && /^Unicast lids/ {
	match($0, /guid 0x[0-9a-f]+/)
	s = "S-" substr($0, RSTART + 7, RLENGTH - 7)
}

file == 3 && /^0x/ { next_hop[s, hex($1)] = peer[s, $2 + 0] }

function hex(text, i, n) {
	for (i = 3; i <= length(text); i++)
		n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}

# ---- the picture -----------------------------------------------------------------

function count_flows(lid, from, at, far) {
	for (lid in leaf_of)
		for (from in hosts)
			for (at = from; at != leaf_of[lid]; at = far) {
				far = next_hop[at, lid]
				load[at, far] += hosts[from]
			}
}

function place_switches(s, part) {
	for (s in name) {
		split(name[s], part, "-")	# sw-RANK-NUMBER, ranks from 1
		rank[s] = part[2]
		place[s] = part[3]
		width[rank[s]]++
		n_ranks = rank[s] > n_ranks ? rank[s] : n_ranks
	}
	for (s in name) {
		x[s] = 950 * (place[s] + 0.5) / width[rank[s]] + 25
		y[s] = 110 * (n_ranks - rank[s]) + 30
	}
}

function colour(share) {
	return share > 0.95 ? "#b2182b" : share > 0.8 ? "#ef8a62" : \
		share > 0.6 ? "#92c5de" : "#4393c3"
}

function line(from, to, style) {
	printf "<line x1=\"%.0f\" y1=\"%d\" x2=\"%.0f\" y2=\"%d\" %s/>\n", \
		x[from], y[from], x[to], y[to], style
}

function draw_links(key, end, most) {
	for (key in whole) {
		split(key, end, SUBSEP)
		if (rank[end[1]] > rank[end[2]])
			continue
		most = load[end[1], end[2]] > load[end[2], end[1]] ? \
			load[end[1], end[2]] : load[end[2], end[1]]
		if (key in alive)
			line(end[1], end[2], "stroke=\"" colour(most / bound) \
				"\" stroke-width=\"2\"")
		else
			line(end[1], end[2], "stroke=\"#888\" stroke-dasharray=\"5,5\"")
	}
}

function draw_switches(s, i, at) {
	for (s in name) {
		for (i = 0; i < hosts[s]; i++) {
			at = x[s] + 14 * (i - (hosts[s] - 1) / 2)
			printf "<path d=\"M%.0f %dV%d\" stroke=\"#555\"/>\n", \
				at, y[s], y[s] + 26
			printf "<circle cx=\"%.0f\" cy=\"%d\" r=\"4\" fill=\"#555\"/>\n", \
				at, y[s] + 28
		}
		printf "<rect x=\"%.0f\" y=\"%d\" width=\"52\" height=\"18\" rx=\"3\" fill=\"#333\"/>\n", \
			x[s] - 26, y[s] - 9
		printf "<text x=\"%.0f\" y=\"%d\" fill=\"#fff\" text-anchor=\"middle\">%s</text>\n", \
			x[s], y[s] + 4, name[s]
	}
}

function draw_key(text, style, at) {
	printf "<path d=\"M%d 322h24\" %s/>\n<text x=\"%d\" y=\"326\">%s</text>\n", \
		at, style, at + 30, text
}

END {
	count_flows()
	place_switches()
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 340\"" \
		" font-family=\"sans-serif\" font-size=\"11\">"
	print "<rect width=\"1000\" height=\"340\" fill=\"#fff\"/>"
	draw_links()
	draw_switches()
	draw_key("missing link", "stroke=\"#888\" stroke-dasharray=\"5,5\"", 25)
	draw_key("load up to 60 % of the lower bound", "stroke=\"" colour(0.5) "\" stroke-width=\"3\"", 140)
	draw_key("up to 80 %", "stroke=\"" colour(0.7) "\" stroke-width=\"3\"", 380)
	draw_key("up to 95 %", "stroke=\"" colour(0.9) "\" stroke-width=\"3\"", 490)
	draw_key("100 %: no routing can avoid this", "stroke=\"" colour(1) "\" stroke-width=\"3\"", 600)
	print "</svg>"
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Marks switches, host ports and links that differ from others of the same kind.  A difference need
// not be an error: a fabric may be built that way.
'use strict';

const ODD = { few: 1, stub: 2, horizontal: 4, skip: 8 };
const NOT_ON_LEAF = 1, NO_LINK = 2;

// The most frequent value, if at least half of the values are equal to it; otherwise 0.  If several
// are equally frequent: the greatest or the least.
function usual(values, greatest) {
	const count = new Map();
	let best = 0;
	for (const v of values)
		count.set(v, (count.get(v) || 0) + 1);
	for (const v of [...count.keys()].sort((p, q) => (greatest ? q - p : p - q)))
		if (count.get(v) > (count.get(best) || 0))
			best = v;
	return 2 * (count.get(best) || 0) >= values.length ? best : 0;
}

function groups(all, key) {
	const by = new Map();
	for (const o of all) {
		if (!by.has(key(o)))
			by.set(key(o), []);
		by.get(key(o)).push(o);
	}
	return by.values();
}

// Links between switches are of the same kind if their lower ends have the same rank; links to hosts,
// if their switches have the same rank.  The port of an Aggregation Node has no link speed.
function markSlow(all, rank) {
	for (const o of all)
		o.slow = false;
	for (const group of groups(all.filter((o) => o.gbps && !o.an), rank)) {
		const most = usual(group.map((o) => o.gbps), false);
		for (const o of group)
			o.slow = o.gbps < most;
	}
}
markSlow(LINKS, (l) => Math.min(SW[l.a].rank, SW[l.b].rank));
markSlow(EP, (e) => (e.sw < 0 ? -1 : SW[e.sw].rank));

for (const e of EP)
	e.odd = e.sw < 0 ? NO_LINK : !e.an && !SW[e.sw].leaf ? NOT_ON_LEAF : 0;

// up: number of upward links.  most: the usual number, among the switches (without stubs) that have
// the same rank and are below the same pod of the next rank; 0: unknown.
for (const s of SW) {
	const above = s.links.filter((l) => l.state !== OLD || s.state === OLD)
		.map((l) => SW[l.a === s.i ? l.b : l.a].rank - s.rank);
	s.up = above.filter((d) => d > 0).length;
	s.most = 0;
	s.odd = (s.stub ? ODD.stub : 0) | (above.includes(0) ? ODD.horizontal : 0) |
		(above.some((d) => d > 1) ? ODD.skip : 0);
}
for (const group of groups(SW.filter((s) => !s.stub && podOver(s, s.rank + 1) >= 0),
	(s) => `${s.rank} ${podOver(s, s.rank + 1)}`)) {
	const most = usual(group.map((s) => s.up), true);
	for (const s of group) {
		s.most = most;
		s.odd |= s.up < most ? ODD.few : 0;
	}
}

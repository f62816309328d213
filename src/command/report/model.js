// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The data of the page, and lookups: names, neighbours, paths.
// Links are numbered from 0; directed link 2 i leads from end a to end b of link i,
// directed link 2 i + 1 from b to a.
'use strict';

const D = JSON.parse(document.getElementById('data').textContent);
Object.assign(D, D.about);

// The map: the switches, host ports and links of all states (the fabric and, with --diff, the old
// one).  Those of the fabric come first, with the same numbers.  Switches and host ports are
// identified by their GUIDs, links by their ends.  Links are sorted by their ends; end a is the
// switch with the lower number.
const OLD = 1, NEW = 2;	// state: only in the old, or only in the new fabric
const SW = [], EP = [], LINKS = [];
const sws = new Map(), eps = new Map(), joints = new Map();	// the objects by their keys

// Adds o to the map, or finds the object with the same key.  Returns the object.
function unite(all, by, key, o, old) {
	const same = by.get(key);
	if (same) {
		same.state = 0;
		return same;
	}
	by.set(key, o);
	o.state = old ? OLD : D.diff ? NEW : 0;
	all.push(o);
	return o;
}

// Adds the lists of z to the map.  sw[], ep[] and links[] become objects of the map; turned[i]: link
// i of z leads from end b to end a.
function addState(z, old) {
	z.sw = z.sw.map((v, i) => unite(SW, sws, v[0], {
		name: z.names.sw[i], guid: v[0], rank: v[1], x: v[2], block: old ? -1 : v[3],
		pod: old ? -1 : v[4], ports: v[5], leaf: v[6], stub: v[7], links: [], hosts: [],
	}, old));
	SW.forEach((s, i) => { s.i = i; });
	z.rows = z.ep;
	z.ep = z.ep.map((v, i) => unite(EP, eps, v[0], {
		name: z.names.ep[i], guid: v[0], sw: v[1] < 0 ? -1 : z.sw[v[1]].i, port: v[2],
		lid: v[3], gbps: v[4], an: v[5],
	}, old));
	EP.forEach((e, i) => { e.i = i; });
	z.order = z.order.map((i) => z.ep[i].i);
	z.turned = [];
	z.links = z.links.map((v, i) => {
		const a = z.sw[v[0]].i, b = z.sw[v[2]].i, pa = v[1], pb = v[3];
		z.turned[i] = a > b || (a === b && pa > pb);
		const at = z.turned[i] ? [b, pb, a, pa] : [a, pa, b, pb];
		return unite(LINKS, joints, at.join(), {
			a: at[0], pa: at[1], b: at[2], pb: at[3], gbps: v[4], nth: 0, of: 1,
		}, old);
	});
}
D.states.forEach((z, i) => addState(z, i > 0));
LINKS.sort((p, q) => p.a - q.a || p.pa - q.pa || p.b - q.b || p.pb - q.pb);
LINKS.forEach((l, i) => { l.i = i; });
const swByGuid = new Map(SW.map((s) => [s.guid, s.i]));
const epByGuid = new Map(EP.map((e) => [e.guid, e.i]));
const PODS = D.pods.map((v) => ({ rank: v[0], first: v[1], leaves: v[2] }));
const BLOCKS = D.blocks.map((v, i) => ({
	i, rank: v[0], x0: v[1], x1: v[2], n: v[3], hosts: 0,
}));
const MISSING = D.missing.map((v, i) => ({
	i, low: v[0], up: v[1], n: v[2], inferred: v[3],
}));
const plainGuid = (guid) => (guid || '').replace(/^0x/, '');
// Findings of ibfattree doctor; checks without a finding are only counted.
const CHECKS = D.doctor ? D.doctor.checks : [];
const DOCTOR = CHECKS.filter((c) => c.verdict === 'failure' || c.verdict === 'warning').map((c) => ({
	id: c.id, failure: c.verdict === 'failure', text: c.text, remedy: c.remedy,
	more: c.n_details - c.details.length,
	details: c.details.map((text, i) => {
		const place = (c.places || [])[i] || {};
		return { text, guid: plainGuid(place.guid), port: place.port || 0 };
	}),
}));
// exits[s].get(p): the directed link that leaves switch s by port p.
const exits = SW.map(() => new Map());

function joinAll() {
	const pairs = new Map();
	for (const l of LINKS) {
		SW[l.a].links.push(l);
		if (l.b !== l.a)
			SW[l.b].links.push(l);
		if (!exits[l.a].has(l.pa) || l.state !== OLD)
			exits[l.a].set(l.pa, 2 * l.i);
		if (!exits[l.b].has(l.pb) || l.state !== OLD)
			exits[l.b].set(l.pb, 2 * l.i + 1);
		const key = Math.min(l.a, l.b) * SW.length + Math.max(l.a, l.b);
		const same = pairs.get(key) || [];
		same.push(l);
		pairs.set(key, same);
	}
	for (const same of pairs.values())
		same.forEach((l, k) => { l.nth = k; l.of = same.length; });
	for (const e of EP) {
		if (e.sw < 0)
			continue;
		SW[e.sw].hosts.push(e);
		if (SW[e.sw].block >= 0 && !e.an)
			BLOCKS[SW[e.sw].block].hosts++;
	}
	for (const s of SW)
		s.hosts.sort((p, q) => p.port - q.port);
}
joinAll();

const byThousands = new Intl.NumberFormat('en-US');
const num = (n) => byThousands.format(n);
const plural = (n, one, many) => `${num(n)} ${n === 1 ? one : many || one + 's'}`;
// The numbers of characters that all names of switches share: `a` characters at the beginning of
// the names, `z` characters at their end.  Only whole words are counted.
const SHARED = (function () {
	const names = SW.map((s) => s.name).filter((n) => n);
	let a = names.length > 1 ? names[0].length : 0, z = a;
	for (const n of names) {
		while (!n.startsWith(names[0].slice(0, a)))
			a--;
		while (!n.endsWith(names[0].slice(names[0].length - z)))
			z--;
	}
	const word = /[^A-Za-z0-9]/;
	while (a && !word.test(names[0][a - 1]))
		a--;
	while (z && !word.test(names[0][names[0].length - z]))
		z--;
	return { a, z };
})();
const shortName = (s) => (s.name.length > SHARED.a + SHARED.z ?
	s.name.slice(SHARED.a, s.name.length - SHARED.z) : s.name);
// The name of a switch in lists.  The characters that all names share are omitted if there are at
// least 8 of them.
const briefName = (s) => (SHARED.a + SHARED.z >= 8 && swName(s) === SW[s].name ? shortName(SW[s]) : swName(s));
// Makes a function that returns a unique name of all[i]: the GUID is added to a name that is not
// unique, and replaces a missing name.
function uniqueNames(all, kind) {
	const seen = new Map();
	for (const o of all)
		seen.set(o.name, (seen.get(o.name) || 0) + 1);
	return (i) => (!all[i].name ? `${kind} 0x${all[i].guid}` :
		seen.get(all[i].name) > 1 ? `${all[i].name} 0x${all[i].guid}` : all[i].name);
}
const swName = uniqueNames(SW, 'switch'), epName = uniqueNames(EP, 'port');
const linkName = (l) => `${briefName(l.a)} port ${l.pa} – ${briefName(l.b)} port ${l.pb}`;
const from = (d) => (d & 1 ? LINKS[d >> 1].b : LINKS[d >> 1].a);
const fromPort = (d) => (d & 1 ? LINKS[d >> 1].pb : LINKS[d >> 1].pa);
const to = (d) => (d & 1 ? LINKS[d >> 1].a : LINKS[d >> 1].b);
const toPort = (d) => (d & 1 ? LINKS[d >> 1].pa : LINKS[d >> 1].pb);
const dirName = (d) => `${briefName(from(d))} port ${fromPort(d)} → ${briefName(to(d))} port ${toPort(d)}`;

// ---- tables -------------------------------------------------------------------

// tables.get(k): the tables of set k; null: the page does not contain them.  Element
// s * EP.length + e is the port by which switch s sends to host port e; 255: no entry.
const tables = new Map();

// Decodes the tables of set k.  There is a row for each switch of its state, with the port to each
// host port, sorted by switch and port (ibfattree-report).
function decode(bytes, k) {
	const z = D.states[D.sets[k].base], n = z.ep.length;
	const t = new Uint8Array(SW.length * EP.length).fill(255);
	const sw = (i) => (z.rows[i][1] < 0 ? 2 ** 32 : z.rows[i][1]);
	const cols = z.rows.map((_, i) => i)
		.sort((p, q) => sw(p) - sw(q) || z.rows[p][2] - z.rows[q][2] || p - q)
		.map((i) => z.ep[i].i);
	z.sw.forEach((s, at) => {
		for (let i = 0; i < n; i++)
			t[s.i * EP.length + cols[i]] = bytes[at * n + i];
	});
	return t;
}

async function tablesOf(k) {
	if (tables.has(k))
		return tables.get(k);
	const text = D.tables[k];
	let t = null;
	if (text && typeof DecompressionStream !== 'undefined') {
		const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
		const stream = new Blob([bytes]).stream()
			.pipeThrough(new DecompressionStream('deflate'));
		t = decode(new Uint8Array(await new Response(stream).arrayBuffer()), k);
	}
	tables.set(k, t);
	return t;
}

// Simplifies what "ibfattree check --json" shows (cycle: directed links), and converts the numbers
// of a state to those of the map.  dead: links that are not in this set.  off: host ports without a
// link.
for (const s of D.sets) {
	const z = D.states[s.about.base], numbers = (all) => all.map((o) => o.i);
	const others = (all, own) => numbers(all.filter((o) => !own.has(o)));
	s.dead = numbers(s.dead.map((i) => z.links[i])).concat(others(LINKS, new Set(z.links)))
		.sort((p, q) => p - q);
	s.off = numbers(s.off.map((i) => z.ep[i])).concat(others(EP, new Set(z.ep)));
	for (const load of Object.values(s.loads)) {
		const own = load.load;
		load.load = new Array(2 * LINKS.length).fill(0);
		z.links.forEach((l, i) => {
			load.load[2 * l.i + z.turned[i]] = own[2 * i];
			load.load[2 * l.i + 1 - z.turned[i]] = own[2 * i + 1];
		});
	}
	const c = s.check, hosts = c.paths.host_host, loop = c.credit_loops;
	const at = (sw) => swByGuid.get(plainGuid(sw.guid));
	Object.assign(s, s.about, {
		pairs: hosts.pairs, lost: hosts.not_arriving, no_path: hosts.no_physical_path,
		hops: c.longest_path, cycle_links: loop.length || 0,
		credit: loop.verdict === 'cycle' ? 'found' : 'none',
		cycle: (loop.cycle || []).map((l) => exits[at(l.from)].get(l.from_port)).filter((d) => d !== undefined),
		found: Object.entries(c.findings).filter(([, f]) => f.count).map(([kind, f]) => ({
			kind, n: f.count, at: at(f.first.at),
			to: `LID ${f.first.to.lid}${f.first.to.name ? ` of ${f.first.to.name}` : ''}`,
		})),
	});
}

const deadLinks = D.sets.map((s) => new Set(s.dead));

// The path of packets from host port a to host port b: its directed links, and the
// reason if the packets do not arrive.
function walk(t, k, a, b) {
	const path = [], seen = new Set();
	let s = EP[a].sw;
	if (s < 0)
		return { path, why: `${epName(a)} has no link` };
	for (;;) {
		const port = t[s * EP.length + b];
		if (EP[b].sw === s && EP[b].port === port)
			return { path, why: '' };
		if (port === 255)
			return { path, why: `${swName(s)} has no route` };
		if (seen.has(s))
			return { path, why: `the path loops at ${swName(s)}` };
		seen.add(s);
		const d = exits[s].get(port);
		if (d === undefined || deadLinks[k].has(d >> 1))
			return { path, why: `${swName(s)} sends by port ${port}, which has no link to a switch` };
		path.push(d);
		s = to(d);
	}
}

// The users of directed link d.  dests: destinations of packets on d.  sources: switches whose
// hosts send these packets, with the number of destinations.  All switches are visited once per
// destination.
function users(t, k, d) {
	const dests = [], sources = new Map();
	const n = EP.length, s0 = from(d), port = fromPort(d);
	for (let e = 0; e < n; e++)
		if (t[s0 * n + e] === port && EP[e].sw >= 0)
			dests.push(e);
	const mark = new Int8Array(SW.length);
	for (const e of dests) {
		mark.fill(0);		// 1: uses link d, 2: does not
		mark[s0] = 1;
		for (const s of SW) {
			if (!s.hosts.length)
				continue;
			const visited = [];
			let x = s.i, hit = 2;
			while (!mark[x]) {
				mark[x] = 2;
				visited.push(x);
				const q = exits[x].get(t[x * n + e]);
				if (q === undefined || deadLinks[k].has(q >> 1))
					break;
				x = to(q);
			}
			if (mark[x] === 1)
				hit = 1;
			for (const y of visited)
				mark[y] = hit;
			if (mark[s.i] === 1)
				sources.set(s.i, (sources.get(s.i) || 0) + 1);
		}
	}
	return { dests, sources };
}

// The switches that link l alone connects to the rest of the fabric of set k.
function cutOff(k, l) {
	const seen = new Uint8Array(SW.length), queue = [l.a];
	seen[l.a] = 1;
	while (queue.length) {
		const s = queue.pop();
		for (const m of SW[s].links) {
			if (m === l || deadLinks[k].has(m.i))
				continue;
			const y = m.a === s ? m.b : m.a;
			if (!seen[y]) {
				seen[y] = 1;
				queue.push(y);
			}
		}
	}
	if (seen[l.b])
		return [];
	const here = SW.filter((s) => seen[s.i]), there = SW.filter((s) => !seen[s.i]);
	return here.length < there.length ? here : there;
}

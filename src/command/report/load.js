// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Loads of links: bounds, worst links, histograms.
'use strict';

const PATTERNS = { all: 'all-to-all', shift: 'worst shift', pairs: 'given traffic' };

// The switch at the end of link l with the lower rank.
const lower = (l) => (SW[l.a].rank <= SW[l.b].rank ? l.a : l.b);
// Does directed link d lead up?
const goesUp = (d) => from(d) === lower(LINKS[d >> 1]) &&
	SW[from(d)].rank !== SW[to(d)].rank;

// upLinks[k][pod]: number of upward links of a pod in the fabric of set k.
const upLinks = D.sets.map((s, k) => {
	const up = new Uint32Array(PODS.length);
	for (const l of LINKS) {
		const pod = SW[lower(l)].pod;
		if (pod >= 0 && SW[l.a].rank !== SW[l.b].rank && !deadLinks[k].has(l.i))
			up[pod]++;
	}
	return up;
});

// The load of directed link d, if the load of its pod were spread evenly over the upward links of
// the pod; 0: unknown.
function leastOf(k, load, d) {
	const l = LINKS[d >> 1], pod = SW[lower(l)].pod;
	if (pod < 0 || SW[l.a].rank === SW[l.b].rank || !upLinks[k][pod])
		return 0;
	return (goesUp(d) ? load.out[pod] : load.in[pod]) / upLinks[k][pod];
}

// podOver(s, r): the pod of rank r that contains switch s or is above s; -1: none.
const podAt = [];
PODS.forEach((p, i) => {
	podAt[p.rank] = podAt[p.rank] || [];
	for (let c = p.first; c < p.first + p.leaves; c++)
		podAt[p.rank][c] = i;
});
const podOver = (s, r) => (s.pod < 0 || r < s.rank || !podAt[r] ? -1 : podAt[r][PODS[s.pod].first] ?? -1);

// The pods that contain switch s or are above it.
const podsOver = SW.map((s) => podAt.map((_, r) => podOver(s, r)).filter((pod) => pod >= 0));

// Counts the flows that must leave each pod (out) and enter it (in) under any tables.
function countFlows(load, k, pattern) {
	const off = new Set(D.sets[k].off), order = D.states[D.sets[k].base].order, n = order.length;
	load.out = new Array(PODS.length).fill(0);
	load.in = new Array(PODS.length).fill(0);
	const pods = (e) => podsOver[EP[e].sw];
	const there = (e) => !off.has(e);
	const flow = (a, b) => {
		if (!there(a) || !there(b))
			return;
		load.flows += pattern === 'shift' ? 1 : 0;
		const x = pods(a), y = pods(b);
		x.forEach((pod) => { load.out[pod] += y.includes(pod) ? 0 : 1; });
		y.forEach((pod) => { load.in[pod] += x.includes(pod) ? 0 : 1; });
	};
	if (pattern === 'pairs') {
		D.given.forEach(([a, b]) => flow(a, b));
	} else if (pattern === 'shift') {
		order.forEach((a, i) => flow(a, order[(i + D.sets[k].shift) % n]));
	} else {
		const hosts = order.filter(there);
		for (const e of hosts)
			pods(e).forEach((pod) => { load.out[pod]++; });
		load.out.forEach((c, i) => { load.out[i] = load.in[i] = c * (hosts.length - c); });
	}
}
D.sets.forEach((s, k) => Object.entries(s.loads).forEach(([p, load]) => countFlows(load, k, p)));

// linksOut[k][pod]: in the fabric of set k, the number of links with one end in the pod or below
// it, and the other end elsewhere.
const linksOut = D.sets.map((s, k) => {
	const out = new Uint32Array(PODS.length);
	for (const l of LINKS)
		for (let r = 0; r < podAt.length && !deadLinks[k].has(l.i); r++) {
			const x = podOver(SW[l.a], r), y = podOver(SW[l.b], r);
			for (const pod of x === y ? [] : [x, y])
				if (pod >= 0)
					out[pod]++;
		}
	return out;
});

// A lower bound of the load of the most loaded link, for any tables by which all flows arrive.
function boundOf(k, load) {
	let max = 0;
	linksOut[k].forEach((n, i) => {
		if (n)
			max = Math.max(max, Math.ceil(Math.max(load.out[i], load.in[i]) / n));
	});
	return max;
}

// The n most loaded directed links.
function worst(load, n) {
	const all = [];
	load.load.forEach((x, d) => { if (x) all.push(d); });
	all.sort((p, q) => load.load[q] - load.load[p] || p - q);
	return all.slice(0, n);
}

const SVG = 'http://www.w3.org/2000/svg';
function svg(name, attributes, text) {
	const e = document.createElementNS(SVG, name);
	for (const [k, v] of Object.entries(attributes))
		e.setAttribute(k, v);
	if (text !== undefined)
		e.textContent = text;
	return e;
}

function bins(values, width, n) {
	const count = new Array(n).fill(0);
	for (const v of values)
		count[Math.min(n - 1, Math.floor(v / width))]++;
	return count;
}

// A histogram of links by load (bars).  The dashed outline shows it for the case that every pod
// spreads its flows evenly.
function histogram(k, load) {
	const w = 380, h = 130, left = 40, bottom = 18, top = 8;
	const real = [], even = [];
	load.load.forEach((x, d) => {
		if (deadLinks[k].has(d >> 1))
			return;
		real.push(x);
		even.push(leastOf(k, load, d));
	});
	const max = Math.max(1, ...[load.max, boundOf(k, load)]);
	const width = Math.ceil((max + 1) / 32), n = Math.floor(max / width) + 1;
	const a = bins(real, width, n), b = bins(even, width, n);
	const most = Math.max(1, ...a, ...b);
	const root = svg('svg', {
		viewBox: `0 0 ${w} ${h}`, width: '100%', role: 'img',
		'aria-label': `Links by load: the most loaded carries ${plural(load.max, 'flow')}, the lower bound is ${num(boundOf(k, load))}`,
	});
	const px = (i) => left + (w - left - 4) * i / n;
	const py = (c) => h - bottom - (h - bottom - top) * c / most;
	a.forEach((c, i) => {
		if (!c)
			return;
		const r = svg('rect', { class: 'bar', x: px(i) + 0.5, y: py(c), width: Math.max(1, px(1) - px(0) - 1), height: h - bottom - py(c) });
		r.append(svg('title', {}, `${plural(c, 'link')} with ${num(i * width)}${width > 1 ? ` to ${num((i + 1) * width - 1)}` : ''} flows`));
		root.append(r);
	});
	let outline = `M${px(0)} ${h - bottom}`;
	b.forEach((c, i) => { outline += `L${px(i)} ${py(c)}L${px(i + 1)} ${py(c)}`; });
	root.append(svg('path', { class: 'least', d: `${outline}L${px(n)} ${h - bottom}` }));
	root.append(svg('line', { class: 'axis', x1: left, x2: w, y1: h - bottom, y2: h - bottom }));
	root.append(svg('text', { x: left, y: h - 5 }, '0'));
	root.append(svg('text', { x: w - 4, y: h - 5, 'text-anchor': 'end' }, plural(n * width - 1, 'flow')));
	root.append(svg('text', { x: left - 4, y: top + 8, 'text-anchor': 'end' }, num(most)));
	root.append(svg('text', { x: left - 4, y: h - bottom, 'text-anchor': 'end' }, 'links'));
	return root;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The picture: conversion of coordinates to pixels, drawing at each zoom level, and
// the object under the pointer.
'use strict';

const canvas = document.getElementById('map'), ctx = canvas.getContext('2d');
const RANKS = D.fabric.ranks;
const HEIGHT = Math.max(1, RANKS - 1);	// distance of the first row from the last one, in rows
const MARGIN = 46, TOP = 60, BOTTOM = 110;	// in pixels; hosts are drawn in the space at the bottom
const LINKS_MAX = 4000;			// if more links are visible, bundles are drawn instead

const view = { x: 0, y: 0, zoom: 1, w: 800, h: 500, dpr: 1 };
const state = { set: 0, pattern: 'all', sw: -1, link: -1, ep: -1, a: -1, b: -1, missing: -1,
	there: [], back: [],	// directed links of the paths from host a to host b, and back
	bundle: null };
let colour = {};

const worldX = Math.max(1, D.width);
const scaleX = () => (view.w - 2 * MARGIN) / worldX * view.zoom;
const scaleY = () => (view.h - TOP - BOTTOM) / HEIGHT;
const sx = (x) => MARGIN + (x - view.x) * scaleX();
const sy = (y) => TOP + (y - view.y) * scaleY();
const rowOf = (rank) => RANKS - 1 - rank;
const swX = (s) => sx(SW[s].x), swY = (s) => sy(rowOf(SW[s].rank));

function readColours() {
	const style = getComputedStyle(document.documentElement);
	colour = {};
	for (const k of ['bg', 'fg', 'dim', 'line', 'card', 'switch', 'leaf', 'host',
		'missing', 'slow', 'odd', 'loop', 'path', 'back', 'select', 'new', 'h0',
		'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7'])
		colour[k] = style.getPropertyValue('--' + k).trim();
	colour.heat = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => colour['h' + i]);
}

const loadNow = () => D.sets[state.set].loads[state.pattern] || null;
// The greater load of the two directions.
const loadOf = (load, l) => Math.max(load.load[2 * l.i], load.load[2 * l.i + 1]);
// The load at the end of the colour scale.  An even load has the colour in the middle; only
// links that carry much more are dark.
const scaleEnd = (load) => Math.max(load.max, 2 * boundOf(state.set, load));
function heat(value, max) {
	const n = colour.heat.length;
	return max ? Math.min(n - 1, Math.floor(value / max * (n - 0.001))) : 0;
}

// ---- sizes ----------------------------------------------------------------------

const spacing = new Float64Array(SW.length);
for (const s of SW) {
	const b = s.block >= 0 ? BLOCKS[s.block] : null;
	spacing[s.i] = b ? (b.x1 - b.x0) / b.n : 1;
}
const swWidth = (s) => Math.max(2, Math.min(90, spacing[s] * scaleX() * 0.82));
const swHeight = (s) => (swWidth(s) < 6 ? 7 : 16);

function ends(l) {
	const lo = lower(l), hi = lo === l.a ? l.b : l.a;
	const off = (s) => (l.of < 2 ? 0 : (l.nth - (l.of - 1) / 2) *
		Math.min(5, swWidth(s) * 0.7 / l.of));
	const flat = SW[lo].rank === SW[hi].rank;
	return { x0: swX(lo) + off(lo), y0: swY(lo) + (flat ? -1 : -swHeight(lo) / 2),
		x1: swX(hi) + off(hi), y1: swY(hi) + (flat ? -1 : swHeight(hi) / 2), flat };
}

const isVisible = (e) => Math.max(e.x0, e.x1) >= 0 && Math.min(e.x0, e.x1) <= view.w;

function trace(e) {
	ctx.moveTo(e.x0, e.y0);
	if (e.flat)
		ctx.quadraticCurveTo((e.x0 + e.x1) / 2, e.y0 - 34 - Math.abs(e.x1 - e.x0) / 12, e.x1, e.y1);
	else
		ctx.lineTo(e.x1, e.y1);
}

// ---- bundles ----------------------------------------------------------------------

// A bundle is the set of all links between two blocks.
const bundles = [];
(function () {
	const at = new Map();
	for (const l of LINKS) {
		const p = SW[l.a].block, q = SW[l.b].block;
		if (p < 0 || q < 0 || p === q)
			continue;
		const lo = Math.min(p, q), hi = Math.max(p, q), key = lo * BLOCKS.length + hi;
		let b = at.get(key);
		if (!b) {
			b = { lo, hi, links: [], missing: 0, marked: 0 };
			at.set(key, b);
			bundles.push(b);
		}
		b.links.push(l);
		b.marked += l.slow || l.state ? 1 : 0;
	}
	for (const m of MISSING) {
		const p = SW[m.low].block, q = SW[m.up].block;
		const b = at.get(Math.min(p, q) * BLOCKS.length + Math.max(p, q));
		if (b)
			b.missing += m.n;
	}
})();

function bundleEnds(b) {
	const p = BLOCKS[b.lo], q = BLOCKS[b.hi];
	return { x0: sx((p.x0 + p.x1) / 2), y0: sy(rowOf(p.rank)) - 10,
		x1: sx((q.x0 + q.x1) / 2), y1: sy(rowOf(q.rank)) + 10, flat: p.rank === q.rank };
}

// ---- drawing ------------------------------------------------------------------------

function drawBlocks() {
	for (const b of BLOCKS) {
		const x = sx(b.x0), w = sx(b.x1) - x, y = sy(rowOf(b.rank));
		if (x > view.w || x + w < 0)
			continue;
		ctx.fillStyle = colour.card;
		ctx.strokeStyle = colour.line;
		ctx.lineWidth = 1;
		const inset = Math.min(2, w / 10);
		ctx.beginPath();
		ctx.rect(x + inset, y - 13, Math.max(1, w - 2 * inset), 26);
		ctx.fill();
		ctx.stroke();
	}
}

function drawBlockTexts(aggregated) {
	ctx.textAlign = 'center';
	ctx.textBaseline = 'middle';
	for (const b of BLOCKS) {
		const x0 = Math.max(0, sx(b.x0)), x1 = Math.min(view.w, sx(b.x1));
		if (x1 - x0 < 46)
			continue;
		const kind = b.rank ? plural(b.n, 'switch', 'switches') : plural(b.n, 'leaf', 'leaves');
		const text = b.hosts ? `${kind}, ${plural(b.hosts, 'host')}` : kind;
		const y = b.rank ? sy(rowOf(b.rank)) - 24 : sy(rowOf(b.rank)) + 24;
		ctx.font = '11px system-ui, sans-serif';
		if (ctx.measureText(text).width > x1 - x0 + 4)
			continue;
		const at = (x0 + x1) / 2, w = ctx.measureText(text).width;
		ctx.fillStyle = colour.bg;
		ctx.globalAlpha = 0.8;
		if (aggregated || b.rank)
			ctx.fillRect(at - w / 2 - 2, y - 7, w + 4, 14);
		ctx.globalAlpha = 1;
		if (!b.rank && !aggregated && hostsShown())
			continue;
		ctx.fillStyle = colour.fg;
		ctx.fillText(text, at, y);
	}
}

const hostsShown = () => scaleX() > 30;

// The width of lines if n links are drawn.  Many lines are drawn thin, so that they do not merge
// into an area.
const lineWidth = (n) => Math.max(0.3, Math.min(1.3, 0.3 * view.w / Math.max(1, n)));

// Draws links in the colours of their loads, all links of a colour as one canvas path.
function drawLinks(list, load) {
	const levels = colour.heat.map(() => []);
	const max = load ? scaleEnd(load) : 0;
	let seen = 0;
	for (const l of list) {
		levels[load ? heat(loadOf(load, l), max) : 2].push(l);
		seen += isVisible({ x0: swX(l.a), x1: swX(l.b) });
	}
	const width = lineWidth(seen);
	levels.forEach((links, i) => {
		if (!links.length)
			return;
		ctx.strokeStyle = colour.heat[i];
		ctx.lineWidth = width * (0.7 + i * 0.2);
		ctx.beginPath();
		for (const l of links)
			trace(ends(l));
		ctx.stroke();
	});
}

function drawBundles(load) {
	const max = load ? scaleEnd(load) : 0;
	for (const b of bundles) {
		b.most = b.mean = 0;
		if (!load)
			continue;
		for (const l of b.links) {
			b.most = Math.max(b.most, loadOf(load, l));
			b.mean += loadOf(load, l) / b.links.length;
		}
	}
	for (const b of [...bundles].sort((p, q) => p.mean - q.mean)) {
		const e = bundleEnds(b);
		if (!isVisible(e))
			continue;
		ctx.strokeStyle = colour.heat[load ? heat(b.mean, max) : 2];
		ctx.lineWidth = Math.max(0.8, Math.min(12, Math.sqrt(b.links.length) / 2));
		if (bundles.length > 200)
			ctx.lineWidth = Math.min(ctx.lineWidth, lineWidth(bundles.length));
		ctx.beginPath();
		trace(e);
		ctx.stroke();
	}
}

function stroke(list, style, width, dash) {
	ctx.strokeStyle = style;
	ctx.lineWidth = width;
	ctx.setLineDash(dash || []);
	ctx.beginPath();
	for (const l of list)
		trace(l.x0 === undefined ? ends(l) : l);
	ctx.stroke();
	ctx.setLineDash([]);
}

function cross(x, y, style) {
	ctx.strokeStyle = style;
	ctx.lineWidth = 2;
	ctx.beginPath();
	ctx.moveTo(x - 4, y - 4);
	ctx.lineTo(x + 4, y + 4);
	ctx.moveTo(x - 4, y + 4);
	ctx.lineTo(x + 4, y - 4);
	ctx.stroke();
}

// Missing links are drawn beside the links that the two switches still have.  If the page shows
// two fabrics, a removed link is drawn once, as removed, and not as missing as well.
const between = (m, old) => SW[m.low].links.filter((l) =>
	(l.a === m.low ? l.b : l.a) === m.up && (l.state === OLD) === old).length;
const linksBetween = MISSING.map((m) => between(m, false));
const shownMissing = MISSING.filter((m) => between(m, true) < m.n);
function missingEnds(m) {
	const n = linksBetween[m.i];
	return ends({ a: m.low, b: m.up, nth: n && n + 0.5, of: n && Math.max(2, n) });
}

function drawMarks() {
	const k = state.set;
	const marked = LINKS.filter((l) => l.slow && !deadLinks[k].has(l.i));
	stroke(marked, colour.bg, 6);
	stroke(marked, colour.slow, 3.5, [3, 4]);
	stroke(LINKS.filter((l) => l.state === NEW), colour.new, 2);
	const gone = LINKS.filter((l) => deadLinks[k].has(l.i) && l.state !== NEW);
	const lost = gone.map(ends).concat(shownMissing.map(missingEnds));
	if (lost.length < 400)
		stroke(lost, colour.bg, 4);
	stroke(lost, colour.missing, 2, [6, 4]);
	if (lost.length < 400)
		for (const e of lost)
			cross(e.x0 + (e.x1 - e.x0) * 0.12, e.y0 + (e.y1 - e.y0) * 0.12, colour.missing);
}

// Draws an arrow on directed link d.
function arrow(d, style, width, dash) {
	const l = LINKS[d >> 1], e = ends(l), up = from(d) === lower(l);
	stroke([l], style, width, dash);
	const at = e.flat ? 0.5 : 0.62, x0 = up ? e.x0 : e.x1, y0 = up ? e.y0 : e.y1;
	const x1 = up ? e.x1 : e.x0, y1 = up ? e.y1 : e.y0;
	const x = x0 + (x1 - x0) * at, y = y0 + (y1 - y0) * at - (e.flat ? 17 + Math.abs(x1 - x0) / 24 : 0);
	const t = Math.atan2(y1 - y0, x1 - x0), r = 5 + width;
	ctx.fillStyle = style;
	ctx.beginPath();
	ctx.moveTo(x + r * Math.cos(t), y + r * Math.sin(t));
	ctx.lineTo(x + r * Math.cos(t + 2.5), y + r * Math.sin(t + 2.5));
	ctx.lineTo(x + r * Math.cos(t - 2.5), y + r * Math.sin(t - 2.5));
	ctx.fill();
}

function drawSwitch(s) {
	const x = swX(s.i), w = swWidth(s.i), h = swHeight(s.i), y = swY(s.i);
	if (x + w < -20 || x - w > view.w + 20)
		return;
	ctx.fillStyle = s.rank ? colour.switch : colour.leaf;
	if (s.state === OLD) {
		ctx.strokeStyle = colour.missing;
		ctx.setLineDash([3, 2]);
		ctx.lineWidth = 2;
		ctx.strokeRect(x - w / 2, y - h / 2, w, h);
		ctx.setLineDash([]);
		return;
	}
	ctx.fillRect(x - w / 2, y - h / 2, w, h);
	if (s.odd || s.state === NEW) {
		ctx.strokeStyle = s.state === NEW ? colour.new : colour.odd;
		ctx.lineWidth = 2;
		ctx.strokeRect(x - w / 2 - 2, y - h / 2 - 2, w + 4, h + 4);
	}
	if (w < 24 || !s.name)
		return;
	ctx.fillStyle = colour.bg;
	ctx.font = '10px system-ui, sans-serif';
	ctx.textAlign = 'center';
	ctx.textBaseline = 'middle';
	const name = ctx.measureText(s.name).width > w - 6 ? shortName(s) : s.name;
	if (w > 70 || ctx.measureText(name).width <= w - 4)
		ctx.fillText(name, x, y, w - 4);
}

// The position of host port e: hosts below leaves, others above their switch.
function epAt(e) {
	const s = SW[e.sw], w = swWidth(s.i), shown = s.hosts;
	const cell = Math.max(5, Math.min(11, w / 4)), cols = Math.max(1, Math.floor(w / cell));
	const i = shown.indexOf(e), row = Math.floor(i / cols), col = i % cols;
	const n = Math.min(cols, shown.length);
	return { x: swX(s.i) + (col - (n - 1) / 2) * cell,
		y: s.leaf ? swY(s.i) + swHeight(s.i) / 2 + 7 + row * cell : swY(s.i) - swHeight(s.i) / 2 - 7 - row * cell,
		r: cell * 0.38 };
}

function drawEp(e, style, big) {
	const p = epAt(e), r = p.r * (big ? 1.6 : 1);
	ctx.fillStyle = style;
	ctx.beginPath();
	if (e.odd & NOT_ON_LEAF) {
		ctx.moveTo(p.x, p.y - r * 1.5);
		ctx.lineTo(p.x + r * 1.5, p.y + r);
		ctx.lineTo(p.x - r * 1.5, p.y + r);
	} else {
		ctx.rect(p.x - r, p.y - r, 2 * r, 2 * r);
	}
	ctx.fill();
}

function drawEnds() {
	const all = hostsShown();
	for (const e of EP) {
		if (e.sw < 0)
			continue;
		const x = swX(e.sw), odd = e.odd & NOT_ON_LEAF || e.slow || e.state;
		if (x < -100 || x > view.w + 100 || (!odd && (!all || e.an)))
			continue;
		drawEp(e, e.state === OLD ? colour.missing : e.state === NEW ? colour.new :
			e.slow ? colour.slow : odd ? colour.odd : colour.host, odd);
	}
}

function label(text, x, y, style) {
	ctx.font = 'bold 11px system-ui, sans-serif';
	const w = ctx.measureText(text).width;
	x = Math.max(w / 2 + 3, Math.min(view.w - w / 2 - 3, x));
	ctx.fillStyle = colour.bg;
	ctx.fillRect(x - w / 2 - 3, y - 8, w + 6, 16);
	ctx.strokeStyle = style;
	ctx.lineWidth = 1;
	ctx.strokeRect(x - w / 2 - 3, y - 8, w + 6, 16);
	ctx.fillStyle = style;
	ctx.textAlign = 'center';
	ctx.textBaseline = 'middle';
	ctx.fillText(text, x, y);
}

function drawChosen(load) {
	const set = D.sets[state.set];
	if (state.missing >= 0) {
		const e = missingEnds(MISSING[state.missing]);
		stroke([e], colour.bg, 7);
		stroke([e], colour.select, 4, [8, 4]);
		label(pairText(MISSING[state.missing]), (e.x0 + e.x1) / 2, (e.y0 + e.y1) / 2, colour.select);
	} else if (load && state.link < 0 && !state.there.length) {
		const d = worst(load, 1)[0];
		if (d !== undefined) {
			const e = ends(LINKS[d >> 1]);
			stroke([LINKS[d >> 1]], colour.bg, 6);
			stroke([LINKS[d >> 1]], colour.fg, 2.5);
			label(`most loaded: ${plural(load.load[d], 'flow')}, ${dirName(d)}`, e.x0 + (e.x1 - e.x0) * 0.4, e.y0 + (e.y1 - e.y0) * 0.4, colour.fg);
		}
	}
	for (const d of set.cycle)
		arrow(d, colour.loop, 3.5);
	for (const d of state.back)
		arrow(d, colour.back, 3, [7, 4]);
	for (const d of state.there)
		arrow(d, colour.path, 3);
	if (state.link >= 0) {
		stroke([LINKS[state.link]], colour.bg, 7);
		stroke([LINKS[state.link]], colour.select, 4);
	}
	if (state.sw >= 0) {
		const w = swWidth(state.sw) + 8, h = swHeight(state.sw) + 8;
		ctx.strokeStyle = colour.select;
		ctx.lineWidth = 3;
		ctx.strokeRect(swX(state.sw) - w / 2, swY(state.sw) - h / 2, w, h);
		label(swName(state.sw), swX(state.sw), swY(state.sw) - h / 2 - 12, colour.select);
	}
	for (const [e, style] of [[state.ep, colour.select], [state.a, colour.path], [state.b, colour.back]])
		if (e >= 0 && EP[e].sw >= 0) {
			drawEp(EP[e], style, true);
			const p = epAt(EP[e]);
			label(epName(e), p.x, p.y + 14, style);
		}
}

let frame = 0;
function draw() {
	frame = 0;
	const load = loadNow();
	ctx.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
	ctx.fillStyle = colour.bg;
	ctx.fillRect(0, 0, view.w, view.h);
	ctx.font = '11px system-ui, sans-serif';
	drawBlocks();
	let list = LINKS.filter((l) => !deadLinks[state.set].has(l.i));
	if (list.length > LINKS_MAX)
		list = list.filter((l) => isVisible({ x0: swX(l.a), x1: swX(l.b) }));
	view.aggregated = list.length > LINKS_MAX;
	if (view.aggregated)
		drawBundles(load);
	else
		drawLinks(list, load);
	drawMarks();
	for (const s of SW)
		drawSwitch(s);
	drawEnds();
	drawBlockTexts(view.aggregated);
	drawChosen(load);
	ctx.textAlign = 'left';
	ctx.textBaseline = 'middle';
	ctx.font = '11px system-ui, sans-serif';
	for (let r = 0; r < RANKS; r++) {
		const text = r ? `rank ${r}` : 'leaves', y = sy(rowOf(r)) - 30;
		ctx.fillStyle = colour.bg;
		ctx.fillRect(2, y - 7, ctx.measureText(text).width + 4, 14);
		ctx.fillStyle = colour.dim;
		ctx.fillText(text, 4, y);
	}
}
function redraw() {
	if (!frame)
		frame = requestAnimationFrame(draw);
}

// ---- the object at a point ----------------------------------------------------------

function distance(e, x, y) {
	const dx = e.x1 - e.x0, dy = e.y1 - e.y0, n = dx * dx + dy * dy;
	const t = n ? Math.max(0, Math.min(1, ((x - e.x0) * dx + (y - e.y0) * dy) / n)) : 0;
	return Math.hypot(e.x0 + t * dx - x, e.y0 + t * dy - y);
}

// The object nearest to (x, y), as { kind, i }; null: no object is near.
function pick(x, y) {
	let best = null, near = 6;
	for (const e of EP) {
		if (e.sw < 0 || (!hostsShown() && !(e.odd & NOT_ON_LEAF)) || (e.an && !e.odd) ||
		    Math.abs(swX(e.sw) - x) > 60)
			continue;
		const p = epAt(e), far = Math.hypot(p.x - x, p.y - y);
		if (far < Math.min(near, 6)) {
			near = far;
			best = { kind: 'ep', i: e.i };
		}
	}
	if (best)
		return best;
	for (const s of SW) {
		const dx = Math.abs(swX(s.i) - x), dy = Math.abs(swY(s.i) - y);
		if (dx <= swWidth(s.i) / 2 + 2 && dy <= swHeight(s.i) / 2 + 2 && dx < near + 60 && (!best || dx < near)) {
			best = { kind: 'sw', i: s.i };
			near = dx;
		}
	}
	if (best)
		return best;
	near = 5;
	const gone = deadLinks[state.set];
	for (const m of shownMissing) {
		const far = distance(missingEnds(m), x, y);
		if (far < near) {
			near = far;
			best = { kind: 'missing', i: m.i };
		}
	}
	if (view.aggregated) {
		for (const b of bundles) {
			const far = distance(bundleEnds(b), x, y);
			if (far < near) {
				near = far;
				best = { kind: 'bundle', i: bundles.indexOf(b) };
			}
		}
		return best;
	}
	for (const l of LINKS) {
		const far = distance(ends(l), x, y) + (gone.has(l.i) ? 0.5 : 0);
		if (far < near) {
			near = far;
			best = { kind: 'link', i: l.i };
		}
	}
	return best;
}

// ---- the view -----------------------------------------------------------------------

function resize() {
	const box = canvas.getBoundingClientRect();
	view.dpr = window.devicePixelRatio || 1;
	view.w = Math.max(100, box.width);
	view.h = Math.max(100, box.height);
	canvas.width = Math.round(view.w * view.dpr);
	canvas.height = Math.round(view.h * view.dpr);
	draw();			// resizing clears the canvas
}

function zoomAt(x, y, factor) {
	const wx = (x - MARGIN) / scaleX() + view.x, wy = (y - TOP) / scaleY() + view.y;
	view.zoom = Math.max(1, Math.min(worldX * 2 + 10, view.zoom * factor));
	view.x = wx - (x - MARGIN) / scaleX();
	view.y = wy - (y - TOP) / scaleY();
	if (view.zoom === 1)
		view.x = view.y = 0;
	redraw();
}

function panBy(dx, dy) {
	view.x -= dx / scaleX();
	view.y -= dy / scaleY();
	redraw();
}

function fit() {
	view.x = view.y = 0;
	view.zoom = 1;
	redraw();
}

// Makes the coordinates xs visible, with a zoom at which links can be distinguished.
function show(xs) {
	if (!xs.length)
		return;
	const lo = Math.min(...xs), hi = Math.max(...xs);
	view.y = 0;
	view.zoom = worldX / Math.max(6, (hi - lo) * 1.1 + 2);
	if (LINKS.length <= 300 || view.zoom < 1.5) {
		fit();
		return;
	}
	view.x = (lo + hi) / 2 - (view.w - 2 * MARGIN) / 2 / scaleX();
	redraw();
}

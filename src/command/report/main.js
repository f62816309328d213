// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Events: pointer, keys, search, choice of tables; and the start of the page.
'use strict';

function clearSelection() {
	Object.assign(state, { sw: -1, link: -1, ep: -1, a: -1, b: -1, missing: -1,
		bundle: null });
}

function selectSwitch(s) {
	clearSelection();
	state.sw = s;
	show([SW[s].x]);
	drawSelection();
}

function selectLink(l) {
	clearSelection();
	state.link = l;
	show([SW[LINKS[l].a].x, SW[LINKS[l].b].x]);
	drawSelection();
}

function selectMissing(i) {
	clearSelection();
	state.missing = i;
	show([SW[MISSING[i].low].x, SW[MISSING[i].up].x]);
	drawSelection();
}

function selectEp(e) {
	clearSelection();
	state.ep = e;
	if (EP[e].sw >= 0)
		show([SW[EP[e].sw].x]);
	drawSelection();
}

function showCycle(d) {
	show([SW[from(d)].x, SW[to(d)].x]);
}

// Sets host port e as end 'a' or 'b' of a path.  When both ends are set, the path is shown.
function pathEnd(which, e) {
	const { a, b } = state;
	clearSelection();
	Object.assign(state, { a, b, [which]: e });
	if (state.a < 0 || state.b < 0)
		state.ep = e;
	drawSelection();
}

// The first click on a host begins a path, the second ends it.
function clickEp(e) {
	const begun = state.a >= 0 && state.b < 0 && state.a !== e;
	if (begun) {
		pathEnd('b', e);
		return;
	}
	clearSelection();
	state.a = state.ep = e;
	drawSelection();
}

function chooseSet(i) {
	state.set = i;
	$('set').value = String(i);
	const patterns = Object.keys(D.sets[i].loads);
	$('pattern').replaceChildren(...patterns.map((p) => el('option', { value: p }, PATTERNS[p])),
		el('option', { value: 'none' }, 'nothing'));
	if (!patterns.includes(state.pattern) && state.pattern !== 'none')
		state.pattern = patterns[0] || 'none';
	$('pattern').value = state.pattern;
	drawVerdict();
	drawFindings();
	drawLoad();
	drawLegend();
	drawSelection();
}

function drawLegend() {
	const load = loadNow(), items = [];
	const item = (style, dash, text, width) => items.push(el('li', {}, swatch(style, dash, width), text));
	if (load) {
		item(colour.heat[0], '', 'few flows', 2);
		const least = boundOf(state.set, load), end = scaleEnd(load);
		if (least && least < load.max)
			item(colour.heat[heat(least, end)], '', `${plural(least, 'flow')} (lower bound)`, 3);
		item(colour.heat[heat(load.max, end)], '', `${plural(load.max, 'flow')} (most loaded)`, 4);
	}
	if (MISSING.length || D.sets.some((s) => s.dead.length))
		item(colour.missing, '6 4', D.diff ? '✗ missing or removed link' : '✗ missing or dead link', 2);
	if (LINKS.some((l) => l.slow))
		item(colour.slow, '2 3', 'slow link', 3);
	if (EP.some((e) => e.slow))
		item(colour.slow, '', '■ slow host link', 3);
	if (SW.some((s) => s.odd))
		item(colour.odd, '', '□ switch unlike the others', 2);
	if (EP.some((e) => e.odd & NOT_ON_LEAF))
		item(colour.odd, '', '▲ host not on a leaf', 2);
	if (D.sets.some((s) => s.cycle.length))
		item(colour.loop, '', '➤ credit loop', 4);
	if (D.diff)
		item(colour.new, '', 'added', 3);
	item(colour.path, '', 'path there', 3);
	item(colour.back, '7 4', 'path back', 3);
	$('legend').replaceChildren(...items);
}

function swatch(style, dash, width) {
	const s = svg('svg', { width: 26, height: 8, 'aria-hidden': 'true' });
	s.append(svg('line', { x1: 0, x2: 26, y1: 4, y2: 4, stroke: style, 'stroke-width': width, 'stroke-dasharray': dash }));
	return s;
}

// ---- pointer -------------------------------------------------------------------------

let drag = null;
canvas.addEventListener('pointerdown', (ev) => {
	drag = { x: ev.offsetX, y: ev.offsetY, moved: false };
	canvas.setPointerCapture(ev.pointerId);
});
canvas.addEventListener('pointermove', (ev) => {
	if (drag) {
		if (drag.moved || Math.hypot(ev.offsetX - drag.x, ev.offsetY - drag.y) > 4) {
			panBy(ev.offsetX - drag.x, ev.offsetY - drag.y);
			drag = { x: ev.offsetX, y: ev.offsetY, moved: true };
		}
		return;
	}
	tip(ev.offsetX, ev.offsetY);
});
canvas.addEventListener('pointerup', (ev) => {
	const click = drag && !drag.moved;
	drag = null;
	if (click)
		clickAt(ev.offsetX, ev.offsetY);
});
canvas.addEventListener('pointerleave', () => { $('tip').hidden = true; });
canvas.addEventListener('wheel', (ev) => {
	ev.preventDefault();
	zoomAt(ev.offsetX, ev.offsetY, Math.exp(-ev.deltaY * (ev.deltaMode ? 0.05 : 0.0015)));
}, { passive: false });

function tip(x, y) {
	const hit = pick(x, y), box = $('tip');
	box.hidden = !hit;
	if (!hit)
		return;
	const load = loadNow();
	if (hit.kind === 'sw')
		box.textContent = `${swName(hit.i)}${SW[hit.i].odd ? ` – ${oddText(SW[hit.i])}` : ''}`;
	else if (hit.kind === 'ep')
		box.textContent = epName(hit.i);
	else if (hit.kind === 'missing')
		box.textContent = pairText(MISSING[hit.i]);
	else if (hit.kind === 'bundle')
		box.textContent = `${plural(bundles[hit.i].links.length, 'link')}, ${num(bundles[hit.i].missing)} missing`;
	else
		box.textContent = linkName(LINKS[hit.i]) + (load ? `: ${num(load.load[2 * hit.i])} → ${num(load.load[2 * hit.i + 1])} ← flows` : '');
	box.style.left = `${Math.min(x + 12, view.w - 200)}px`;
	box.style.top = `${y + 14}px`;
}

function clickAt(x, y) {
	const hit = pick(x, y);
	if (!hit) {
		clearSelection();
		drawSelection();
	} else if (hit.kind === 'ep') {
		clickEp(hit.i);
	} else {
		clearSelection();
		if (hit.kind === 'bundle')
			state.bundle = bundles[hit.i];
		else
			state[hit.kind] = hit.i;
		drawSelection();
	}
}

// ---- keys ----------------------------------------------------------------------------

function nextSwitch(dx, dy) {
	const here = state.sw >= 0 ? SW[state.sw] : null;
	if (!here)
		return SW.reduce((p, q) => (q.rank > p.rank || (q.rank === p.rank && q.x < p.x) ? q : p)).i;
	const row = SW.filter((s) => s.rank === here.rank + dy && s !== here &&
		(dy || (s.x - here.x) * dx > 0 || (s.x === here.x && (s.i - here.i) * dx > 0)));
	if (!row.length)
		return here.i;
	return row.reduce((p, q) => (Math.abs(q.x - here.x) < Math.abs(p.x - here.x) ? q : p)).i;
}

canvas.addEventListener('keydown', (ev) => {
	const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[ev.key];
	if (ev.ctrlKey || ev.metaKey || ev.altKey)
		return;
	if (step && ev.shiftKey) {
		panBy(-80 * step[0], 80 * step[1]);
	} else if (step) {
		selectSwitch(nextSwitch(...step));
	} else if (ev.key === '+' || ev.key === '=') {
		zoomAt(view.w / 2, view.h / 2, 1.5);
	} else if (ev.key === '-') {
		zoomAt(view.w / 2, view.h / 2, 1 / 1.5);
	} else if (ev.key === '0') {
		fit();
	} else if (ev.key === 'l' || ev.key === 'L') {
		nextLink();
	} else if (ev.key === 'Enter') {
		$('panel').focus();
	} else {
		return;
	}
	ev.preventDefault();
});

let linkSwitch = -1;
function nextLink() {
	if (state.sw >= 0)
		linkSwitch = state.sw;
	const all = linkSwitch >= 0 ? SW[linkSwitch].links : [];
	if (!all.length)
		return;
	const at = state.link >= 0 ? all.indexOf(LINKS[state.link]) : -1;
	selectLink(all[(at + 1) % all.length].i);
}

document.addEventListener('keydown', (ev) => {
	const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(ev.target.tagName);
	if (ev.key === '/' && !typing) {
		ev.preventDefault();
		$('search').focus();
	} else if (ev.key === 'Escape') {
		clearSelection();
		drawSelection();
		canvas.focus();
	}
});

// ---- search --------------------------------------------------------------------------

const HITS = 30;
let hits = [], chosen = 0;
function search(text) {
	const query = text.trim().toLowerCase().replace(/^0x/, '');
	const match = (o) => o.name.toLowerCase().includes(query) || o.guid.includes(query);
	hits = [];
	if (query) {
		for (const s of SW)
			if (hits.length < HITS && match(s))
				hits.push({ text: `switch ${swName(s.i)}`, go: () => selectSwitch(s.i) });
		for (const e of EP)
			if (hits.length < HITS && match(e))
				hits.push({ text: `host ${epName(e.i)}`, go: () => selectEp(e.i) });
		if (!hits.length)
			hits.push({ text: 'nothing found', go: () => {} });
	}
	chosen = 0;
	drawHits();
}

function drawHits() {
	const box = $('hits');
	box.hidden = !hits.length;
	$('search').setAttribute('aria-expanded', String(!box.hidden));
	box.replaceChildren(...hits.map((h, i) => el('li', { role: 'option', id: `hit${i}`,
		'aria-selected': String(i === chosen), onclick: () => take(i) }, h.text)));
	if (hits.length)
		$('search').setAttribute('aria-activedescendant', `hit${chosen}`);
	else
		$('search').removeAttribute('aria-activedescendant');
}

function take(i) {
	const h = hits[i];
	hits = [];
	drawHits();
	if (h)
		h.go();
}

$('search').addEventListener('input', (ev) => search(ev.target.value));
$('search').addEventListener('keydown', (ev) => {
	if (ev.key === 'Enter') {
		ev.preventDefault();
		take(chosen);
	} else if (ev.key === 'ArrowDown' || ev.key === 'ArrowUp') {
		ev.preventDefault();
		chosen = (chosen + (ev.key === 'ArrowDown' ? 1 : hits.length - 1)) % Math.max(1, hits.length);
		drawHits();
	} else if (ev.key === 'Escape') {
		hits = [];
		drawHits();
	}
});

// ---- start ---------------------------------------------------------------------------

function setTheme(name) {
	document.documentElement.dataset.theme = name;
	readColours();
	drawLegend();
	redraw();
}

$('tools').addEventListener('submit', (ev) => ev.preventDefault());
$('set').addEventListener('change', (ev) => chooseSet(Number(ev.target.value)));
$('pattern').addEventListener('change', (ev) => {
	state.pattern = ev.target.value;
	drawLoad();
	drawLegend();
	drawSelection();
});
$('in').addEventListener('click', () => zoomAt(view.w / 2, view.h / 2, 1.5));
$('out').addEventListener('click', () => zoomAt(view.w / 2, view.h / 2, 1 / 1.5));
$('fit').addEventListener('click', fit);
$('print').addEventListener('click', () => window.print());
$('theme').addEventListener('click', () =>
	setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));

// Print with the light theme, whatever the screen uses.
let screenTheme = '';
window.addEventListener('beforeprint', () => {
	screenTheme = document.documentElement.dataset.theme;
	setTheme('light');
	draw();
});
window.addEventListener('afterprint', () => setTheme(screenTheme));

function start() {
	const f = D.fabric;
	document.title = `ibfattree: ${D.title}`;
	$('title').textContent = D.title;
	$('summary').textContent = `${plural(f.switches, 'switch', 'switches')}, ${plural(f.end_ports, 'host port')}, ${plural(f.switch_cables, 'link')} between switches; ` +
		`${plural(f.ranks, 'rank')}, ${plural(f.leaves, 'leaf', 'leaves')}, ${plural(f.pods, 'pod')}, ${plural(f.planes, 'plane')}` +
		`${D.faults.length ? `; faults: ${D.faults.join(', ')}` : ''}. ibfattree ${D.version}`;
	$('set').replaceChildren(...D.sets.map((s, i) => el('option', { value: String(i) }, s.name)));
	clearSelection();
	const dark = window.matchMedia('(prefers-color-scheme: dark)');
	setTheme(dark.matches ? 'dark' : 'light');
	dark.addEventListener('change', (ev) => setTheme(ev.matches ? 'dark' : 'light'));
	drawSets();
	chooseSet(D.diff ? 1 : 0);
	new ResizeObserver(resize).observe(canvas);
	resize();
	draw();
	document.documentElement.dataset.ready = 'yes';
}
start();

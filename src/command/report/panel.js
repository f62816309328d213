// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The panel: verdict, selection, findings, loads, comparison of tables.  Strings from
// the fabric are always set as text, never as HTML.
'use strict';

const $ = (id) => document.getElementById(id);

function el(name, attributes, ...children) {
	const e = document.createElement(name);
	for (const [k, v] of Object.entries(attributes || {})) {
		if (k === 'onclick')
			e.addEventListener('click', v);
		else
			e.setAttribute(k, v);
	}
	e.append(...children);
	return e;
}
const go = (text, fn) => el('button', { type: 'button', class: 'link', onclick: fn }, text);
const linkButton = (l) => go(linkName(l), () => selectLink(l.i));
const swButton = (s) => go(briefName(s), () => selectSwitch(s));
const swButtonFull = (s) => go(swName(s), () => selectSwitch(s));
const epButton = (e) => go(epName(e), () => selectEp(e));
function facts(rows) {
	const dl = el('dl');
	for (const [k, ...v] of rows)
		dl.append(el('dt', {}, k), el('dd', {}, ...v));
	return dl;
}
const SHOWN = 200;
function list(title, items, open) {
	const ul = el('ul');
	for (const item of items.slice(0, SHOWN))
		ul.append(el('li', {}, item()));
	if (items.length > SHOWN)
		ul.append(el('li', {}, `and ${num(items.length - SHOWN)} more`));
	const d = el('details', open ? { open: '' } : {}, el('summary', {}, title), ul);
	return d;
}
const speed = (g) => (g ? `${num(g)} Gbit/s` : 'unknown');

// ---- verdict -------------------------------------------------------------------------

function drawVerdict() {
	const set = D.sets[state.set], load = set.loads.all;
	const missing = MISSING.reduce((n, m) => n + m.n, 0);
	const box = $('verdict');
	const rows = [
		['Host pairs without a route', `${num(set.lost)} of ${num(set.pairs)}` +
			(set.no_path ? `; ${num(set.no_path)} of them have no physical path` : '')],
		['Credit loops', set.credit === 'found' ? `FOUND: ${plural(set.cycle_links, 'link')}` : set.credit],
		['Missing links', missing ? `${num(missing)} (of ${num(D.fabric.switch_cables + missing)})` : 'none'],
	];
	if (D.doctor) {
		const failures = DOCTOR.filter((f) => f.failure).length, rest = CHECKS.filter((c) => c.verdict === 'not_checked').length;
		rows.push(['Doctor', `${plural(failures, 'failure')}, ${plural(DOCTOR.length - failures, 'warning')} in ${plural(CHECKS.length, 'check')}` +
			(rest ? `, ${num(rest)} not made` : '')]);
	}
	if (deadLinks[state.set].size)
		rows.push(['Links not in this state', num(deadLinks[state.set].size)]);
	if (D.fabric.missing_switches)
		rows.push(['Missing switches', num(D.fabric.missing_switches)]);
	if (load) {
		const d = worst(load, 1)[0];
		rows.push(['Most loaded link, all-to-all', `${plural(load.max, 'flow')}; lower bound ${num(boundOf(state.set, load))}`]);
		if (d !== undefined)
			rows.push(['', go(dirName(d), () => selectLink(d >> 1))]);
	}
	box.replaceChildren(
		el('p', { class: set.bad ? 'big bad' : 'big', id: 'judgement' },
			set.bad ? '✗ Findings: these tables are not sound' : '✓ Clean: these tables are sound'),
		facts(rows));
}

// ---- findings ------------------------------------------------------------------------

const KIND = { holes: 'no route', dead_ports: 'the entry names a port without a link',
	wrong_ends: 'delivered to the wrong port', loops: 'the path loops',
	turns: 'the path goes up after it went down' };

function oddText(s) {
	const why = [];
	if (s.odd & ODD.few)
		why.push(`${plural(s.up, 'upward link')}, others ${num(s.most)}`);
	if (s.odd & ODD.stub)
		why.push('connects only switches that lower switches already connect');
	if (s.odd & ODD.horizontal)
		why.push('has a horizontal link');
	if (s.odd & ODD.skip)
		why.push('has a link that skips a rank');
	return why.join('; ');
}

function pairText(m) {
	return `${plural(m.n, 'link')} missing${m.inferred ? ' (inferred)' : ''}: ${briefName(m.low)} – ${briefName(m.up)}`;
}

// A detail of a finding of doctor, as a link to its location if the page has it.
function doctorDetail(d) {
	const s = swByGuid.get(d.guid), e = epByGuid.get(d.guid);
	if (s === undefined)
		return e === undefined ? d.text : go(d.text, () => selectEp(e));
	const out = d.port ? exits[s].get(d.port) : undefined;
	if (out !== undefined)
		return go(d.text, () => selectLink(out >> 1));
	const host = SW[s].hosts.find((h) => d.port && h.port === d.port);
	return go(d.text, () => (host ? selectEp(host.i) : selectSwitch(s)));
}

function doctorItem(f) {
	const items = f.details.map((d) => () => doctorDetail(d));
	if (f.more)
		items.push(() => `and ${num(f.more)} more`);
	if (f.remedy)
		items.push(() => `Do: ${f.remedy}`);
	return list(`${f.failure ? '✗' : '⚠'} doctor, ${f.id}: ${f.text}`, items, f.failure);
}

function drawFindings() {
	const set = D.sets[state.set], box = $('findings'), parts = [];
	const add = (one, many, items) => {
		if (items.length)
			parts.push(list(`${num(items.length)} ${items.length === 1 ? one : many}`, items, !parts.length));
	};
	if (set.cycle.length)
		parts.push(list(`Credit loop of ${plural(set.cycle_links, 'link')}, each waits for the next`,
			set.cycle.map((d) => () => go(dirName(d), () => showCycle(d))), true));
	add('kind of faulty entry', 'kinds of faulty entries', set.found
		.filter((f) => (f.kind !== 'turns' || set.credit === 'found') && (f.kind !== 'holes' || set.bad))
		.map((f) => () => el('span', {}, `${num(f.n)} × ${KIND[f.kind]}; the first at `, swButton(f.at), ` towards ${f.to}`)));
	if (MISSING.length) {
		const n = MISSING.reduce((sum, m) => sum + m.n, 0);
		parts.push(list(`${n === 1 ? '1 link is missing' : `${num(n)} links are missing, between ${plural(MISSING.length, 'pair')} of switches`}`,
			MISSING.map((m) => () => go(pairText(m), () => selectMissing(m.i))), !parts.length));
	}
	add('link is slow', 'links are slow', LINKS.filter((l) => l.slow)
		.map((l) => () => el('span', {}, linkButton(l), `, ${speed(l.gbps)}`)));
	add('host link is slow', 'host links are slow', EP.filter((e) => e.slow)
		.map((e) => () => el('span', {}, epButton(e.i), `, ${speed(e.gbps)}`)));
	add('host is not on a leaf', 'hosts are not on a leaf', EP.filter((e) => e.odd & NOT_ON_LEAF)
		.map((e) => () => el('span', {}, epButton(e.i), ' on ', swButton(e.sw))));
	add('port has no link', 'ports have no link', EP.filter((e) => e.odd & NO_LINK)
		.map((e) => () => epButton(e.i)));
	add('switch is unlike the others', 'switches are unlike the others', SW.filter((s) => s.odd)
		.map((s) => () => el('span', {}, swButton(s.i), `: ${oddText(s)}`)));
	for (const f of DOCTOR)
		parts.push(doctorItem(f));
	if (D.diff) {
		const what = (st) => LINKS.filter((l) => l.state === st);
		add('link was removed', 'links were removed', what(OLD).map((l) => () => linkButton(l)));
		add('link was added', 'links were added', what(NEW).map((l) => () => linkButton(l)));
		for (const [st, word] of [[OLD, 'removed'], [NEW, 'added']]) {
			add(`switch was ${word}`, `switches were ${word}`, SW.filter((s) => s.state === st).map((s) => () => swButton(s.i)));
			add(`host was ${word}`, `hosts were ${word}`, EP.filter((e) => e.state === st).map((e) => () => epButton(e.i)));
		}
	} else if (deadLinks[state.set].size) {
		add('link is down in this state', 'links are down in this state',
			[...deadLinks[state.set]].map((i) => () => linkButton(LINKS[i])));
	}
	box.replaceChildren(...(parts.length ? parts : [el('p', {}, 'None.')]));
}

// ---- loads and sets ------------------------------------------------------------------

function drawLoad() {
	const load = loadNow(), box = $('load');
	if (!load) {
		box.replaceChildren(el('p', {}, 'No load is shown.'));
		return;
	}
	const rows = worst(load, 10).map((d) => el('tr', {},
		el('td', {}, go(dirName(d), () => selectLink(d >> 1))),
		el('td', {}, num(load.load[d])), el('td', {}, num(Math.ceil(leastOf(state.set, load, d))))));
	const least = boundOf(state.set, load), k = D.sets[state.set].shift;
	const times = least && !load.lost ? (load.max / least).toFixed(2) : '';
	box.replaceChildren(
		el('p', { id: 'loadline' }, `${PATTERNS[state.pattern]}${state.pattern === 'shift' ? ` (k = ${k})` : ''}: ${plural(load.flows, 'flow')}` +
			`${load.lost ? `, ${num(load.lost)} lost` : ''}; most loaded link ${num(load.max)}, lower bound ${num(least)}${load.lost ? ' if all arrived' : ''}` +
			`${times ? ` (${times} times)` : ''}`),
		histogram(state.set, load),
		el('p', { class: 'dim' }, 'Bars: links by their flows. Dashed: if every pod spread its flows evenly.'),
		el('table', {}, el('thead', {}, el('tr', {}, el('th', {}, 'Most loaded links'), el('th', {}, 'flows'), el('th', {}, 'even share'))),
			el('tbody', {}, ...rows)));
}

function drawSets() {
	const row = (name, fn) => el('tr', {}, el('th', { scope: 'row' }, name),
		...D.sets.map((s, i) => el('td', {}, fn(s, i))));
	const all = (s) => s.loads.all;
	const body = [
		row('verdict', (s) => (s.bad ? '✗ findings' : '✓ clean')),
		row('host pairs without a route', (s) => num(s.lost)),
		row('credit loop', (s) => (s.credit === 'found' ? plural(s.cycle_links, 'link') : s.credit)),
		row('longest path (links)', (s) => num(s.hops)),
		row('all-to-all: worst link', (s) => (all(s) ? num(all(s).max) : '–')),
		row('all-to-all: lower bound', (s, i) => (all(s) ? num(boundOf(i, all(s))) : '–')),
		row('shifts: worst link', (s) => num(s.shift_max)),
		row('shifts: mean of the worst', (s) => s.shift_mean.toFixed(2)),
	];
	if (D.sets.some((s) => s.loads.pairs))
		body.push(row('given traffic: worst link', (s) => (s.loads.pairs ? num(s.loads.pairs.max) : '–')));
	if (D.sets.some((s) => s.changed_entries !== undefined))
		body.push(row('changed entries', (s) => (s.changed_entries === undefined ? '–' : num(s.changed_entries))));
	$('sets').replaceChildren(el('table', {}, el('thead', {}, el('tr', {}, el('th', {}),
		...D.sets.map((s, i) => el('th', { scope: 'col' }, go(s.name, () => chooseSet(i)))))),
	el('tbody', {}, ...body)));
}

// ---- selection -----------------------------------------------------------------------

function bySwitch(counts, where) {
	const all = [...counts].sort((p, q) => q[1] - p[1] || p[0] - q[0]);
	return list(`${all.length === 1 ? '1 switch sends' : `${num(all.length)} switches send`} over it to ${where}`, all.map(([s, n]) => () =>
		el('span', {}, swButton(s), `: to ${plural(n, 'destination')}`)));
}

async function linkDetails(l, box) {
	const k = state.set, set = D.sets[k], rows = [['Speed', speed(l.gbps)]];
	if (deadLinks[k].has(l.i))
		rows.push(['State', 'missing in this state']);
	for (const d of [2 * l.i, 2 * l.i + 1]) {
		const flows = Object.entries(set.loads)
			.map(([p, load]) => `${num(load.load[d])} ${PATTERNS[p]} (even share ${num(Math.ceil(leastOf(state.set, load, d)))})`);
		rows.push([d & 1 ? 'Flows ←' : 'Flows →', `${dirName(d)}: ${flows.join('; ')}`]);
	}
	box.replaceChildren(el('p', {}, el('strong', {}, linkName(l))), facts(rows),
		el('p', {}, swButtonFull(l.a), ' ', swButtonFull(l.b)));
	const cost = [], gone = cutOff(k, l), all = set.loads.all;
	if (all)
		cost.push(`${num(all.load[2 * l.i] + all.load[2 * l.i + 1])} of ${num(all.flows)} host pairs lose their path until rerouting.`);
	if (gone.length)
		cost.push(`It is the only link to ${plural(gone.length, 'switch', 'switches')} with ${plural(gone.reduce((n, s) => n + s.hosts.length, 0), 'host port')}: these are cut off.`);
	else {
		const lo = lower(l), others = SW[lo].links.filter((m) => m !== l && lower(m) === lo &&
			SW[m.a].rank !== SW[m.b].rank && !deadLinks[k].has(m.i)).length;
		cost.push(`All switches stay connected; the other ${plural(others, 'upward link')} of ${swName(lo)} take its load` +
			(others ? `, ${(100 / others).toFixed(1)} % more each if spread evenly.` : '.'));
	}
	box.append(el('h3', {}, 'If it fails'), el('p', { id: 'cost' }, cost.join(' ')),
		el('p', { class: 'dim' }, `ibfattree whatif FABRIC --fail '0x${SW[l.a].guid}[${l.pa}]' computes it.`));
	const t = await tablesOf(k);
	if (state.link !== l.i)
		return;
	if (!t) {
		box.append(el('p', {}, 'Users of this link: not shown, because this page does not contain the tables.'));
		return;
	}
	for (const d of [2 * l.i, 2 * l.i + 1]) {
		const u = users(t, k, d);
		box.append(list(`${plural(u.dests.length, 'destination')} ${d & 1 ? '←' : '→'} to ${swName(to(d))}`,
			u.dests.map((e) => () => epButton(e))));
		if (u.sources.size)
			box.append(bySwitch(u.sources, swName(to(d))));
	}
}

function switchDetails(s, box) {
	const rows = [['GUID', `0x${s.guid}`], ['Rank', String(s.rank)],
		['Ports', `${num(s.ports)}: ${num(s.up)} upward, ${num(s.links.length - s.up)} other links, ${plural(s.hosts.length, 'host port')}`]];
	if (s.odd)
		rows.push(['Unlike others', oddText(s)]);
	if (s.state)
		rows.push(['State', s.state === OLD ? 'removed' : 'added']);
	const load = loadNow();
	box.replaceChildren(el('p', {}, el('strong', {}, swName(s.i))), facts(rows),
		list(plural(s.links.length, 'link'), s.links.map((l) => () => el('span', {}, linkButton(l),
			load ? `: ${num(load.load[2 * l.i])} / ${num(load.load[2 * l.i + 1])} flows` : ''))),
		list(plural(s.hosts.length, 'host port'), s.hosts.map((e) => () => epButton(e.i))));
}

function epDetails(e, box) {
	const rows = [['GUID', `0x${e.guid}`], ['LID', String(e.lid)],
		['Link', e.sw < 0 ? 'none' : '', ...(e.sw < 0 ? [] : [swButton(e.sw), ` port ${e.port}, ${speed(e.gbps)}`])]];
	if (e.odd & NOT_ON_LEAF)
		rows.push(['Place', 'not on a leaf switch']);
	if (e.slow)
		rows.push(['Speed', 'slower than most']);
	box.replaceChildren(el('p', {}, el('strong', {}, epName(e.i))), facts(rows),
		el('p', {}, go('Path from here', () => pathEnd('a', e.i)), ' · ', go('Path to here', () => pathEnd('b', e.i))));
}

function pathText(title, r, style) {
	const ol = el('ol');
	for (const d of r.path)
		ol.append(el('li', {}, go(dirName(d), () => selectLink(d >> 1))));
	return el('div', { class: style }, el('h3', {}, `${title}: ${r.why ? `DOES NOT ARRIVE: ${r.why}` : plural(r.path.length, 'link') + ' between switches'}`), ol);
}

async function pathDetails(box) {
	const { a, b } = state, k = state.set;
	box.replaceChildren(facts([['From', epButton(a)], ['To', epButton(b)]]));
	const t = await tablesOf(k);
	if (state.a !== a || state.b !== b)
		return;
	if (!t) {
		box.append(el('p', {}, 'This page does not contain the tables, because it would be too large.'));
		return;
	}
	const there = walk(t, k, a, b), back = walk(t, k, b, a);
	state.there = there.path;
	state.back = back.path;
	show([...there.path, ...back.path].map((d) => SW[to(d)].x)
		.concat([a, b].filter((e) => EP[e].sw >= 0).map((e) => SW[EP[e].sw].x)));
	box.append(pathText('There (solid)', there, 'there'), pathText('Back (dashed)', back, 'back'));
	redraw();
}

function drawSelection() {
	const box = $('selection');
	state.there = state.back = [];
	if (state.a >= 0 && state.b >= 0)
		pathDetails(box);
	else if (state.link >= 0)
		linkDetails(LINKS[state.link], box);
	else if (state.ep >= 0)
		epDetails(EP[state.ep], box);
	else if (state.sw >= 0)
		switchDetails(SW[state.sw], box);
	else if (state.missing >= 0)
		box.replaceChildren(el('p', {}, pairText(MISSING[state.missing])),
			el('p', {}, swButtonFull(MISSING[state.missing].low), ' – ', swButtonFull(MISSING[state.missing].up)));
	else if (state.bundle)
		box.replaceChildren(el('p', {}, `${plural(state.bundle.links.length, 'link')} between two blocks, ${num(state.bundle.missing)} missing; most flows on one: ${num(state.bundle.most || 0)}. Zoom in to see each.`));
	else
		box.replaceChildren(el('p', { class: 'dim' }, 'Click a link, a switch or a host; two hosts show the path between them.'));
	redraw();
}

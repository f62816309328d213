# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Opens a page of "ibfattree report" in Chromium, uses it, and checks the contents.
Usage: report.py CASE FILE.html DIRECTORY (for screenshots)."""

import base64
import os
import re
import sys
import time

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import Select, WebDriverWait

SECONDS = 600


def start(width=1500, height=900):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage", "--disable-background-networking",
                 f"--window-size={width},{height}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = Service("/usr/bin/chromedriver")
    return webdriver.Chrome(service=service, options=options)


class Page:
    def __init__(self, path, directory):
        self.driver = start()
        self.directory = directory
        self.path = path
        self.driver.get("file://" + os.path.abspath(path))
        self.until(lambda: self.js(
            "return document.documentElement.dataset.ready") == "yes")

    def until(self, true):
        WebDriverWait(self.driver, SECONDS).until(lambda _: true())

    def js(self, text, *args):
        return self.driver.execute_script(text, *args)

    def text(self, id):
        return self.driver.find_element(By.ID, id).text

    def id(self, id):
        return self.driver.find_element(By.ID, id)

    def shot(self, name):
        self.driver.save_screenshot(os.path.join(self.directory, name + ".png"))

    def click(self, x, y):
        """Click at this position of the canvas, in pixels."""
        box = self.js("const r = canvas.getBoundingClientRect();"
                      "return [r.width, r.height];")
        ActionChains(self.driver).move_to_element_with_offset(
            self.id("map"), int(x - box[0] / 2),
            int(y - box[1] / 2)).click().perform()

    def keys(self, *keys):
        self.id("map").send_keys(*keys)

    def cpu(self):
        """Open and draw the page again; returns the CPU seconds that its thread takes."""
        self.driver.execute_cdp_cmd("Performance.enable", {})
        self.driver.get("file://" + os.path.abspath(self.path))
        self.until(lambda: self.js(
            "return document.documentElement.dataset.ready") == "yes")
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})
        return next(m["value"] for m in metrics["metrics"]
                    if m["name"] == "ThreadTime")

    def end(self):
        bad = [m for m in self.driver.get_log("browser")
               if m["level"] in ("SEVERE", "WARNING")]
        self.driver.quit()
        assert not bad, f"the console says: {bad}"


def contrast(page, fore, back):
    """Contrast ratio of two colours of the page (WCAG 2.1, 1.4.3)."""
    def luminance(name):
        value = page.js("return getComputedStyle(document.documentElement)"
                        ".getPropertyValue(arguments[0]).trim()", name)
        parts = [int(value[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
                 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    a, b = luminance(fore), luminance(back)
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def both_themes(page):
    seen = set()
    for _ in range(2):
        page.id("theme").click()
        seen.add(page.js("return document.documentElement.dataset.theme"))
        for name in ("--fg", "--dim", "--focus"):
            for back in ("--bg", "--card"):
                ratio = contrast(page, name, back)
                assert ratio >= 4.5, f"{name} on {back}: contrast {ratio:.1f}"
        for name in ("--missing", "--slow", "--odd", "--loop", "--path",
                     "--back", "--switch", "--leaf"):
            ratio = contrast(page, name, "--bg")
            assert ratio >= 3, f"{name}: contrast {ratio:.1f}"
        page.shot("theme-" + page.js(
            "return document.documentElement.dataset.theme"))
    assert seen == {"dark", "light"}, seen


def ink(page):
    """Number of distinct colours of the picture; a blank one has one."""
    return page.js("""
        const d = ctx.getImageData(0, 0, canvas.width, canvas.height).data;
        const seen = new Set();
        for (let i = 0; i < d.length; i += 4)
            seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
        return seen.size;""")


def one_page(page):
    """The page prints on one sheet, with the picture and the verdict."""
    pdf = base64.b64decode(page.driver.print_page())
    n = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
    assert n == 1, f"prints to {n} pages"
    with open(os.path.join(page.directory, "print.pdf"), "wb") as out:
        out.write(pdf)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                {"media": "print"})
    page.shot("print")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def case_page(page):
    assert ink(page) > 10, "the picture is blank"
    assert "Clean" in page.text("judgement")
    assert page.js("return D.sets.length") == 2
    # two links were removed, and are inferred from the others
    missing = page.js("return MISSING.reduce((n, m) => n + m.n, 0)")
    assert missing == 2, f"{missing} missing links"
    assert "2 links are missing" in page.text("findings")

    # a click on a link shows its users and the effect of its loss
    x, y = page.js("const e = ends(LINKS[5]);"
                   "return [e.x0 * .7 + e.x1 * .3, e.y0 * .7 + e.y1 * .3];")
    page.click(x, y)
    link = page.js("return state.link")
    assert link >= 0, "no link was picked"
    page.until(lambda: "destination" in page.text("selection"))
    text = page.text("selection")
    assert "If it fails" in text and "host pairs lose their path" in text, text
    # the number of paths that use the link by the tables must be its all-to-all load
    flows = page.js("return D.sets[0].loads.all.load[2 * arguments[0]] +"
                    "D.sets[0].loads.all.load[2 * arguments[0] + 1]", link)
    users = page.driver.execute_async_script("""
        const l = arguments[0], done = arguments[1];
        tablesOf(0).then((t) => {
            let n = 0;
            for (const a of EP) for (const b of EP)
                if (a !== b && walk(t, 0, a.i, b.i).path.some((d) => d >> 1 === l))
                    n++;
            done(n);
        });""", link)
    assert flows == users, f"{flows} flows, {users} paths"

    # two clicked hosts: the path in both directions
    page.keys(Keys.ESCAPE, "0")
    for ep in (0, page.js("return EP.length - 1")):
        x, y = page.js("const p = epAt(EP[arguments[0]]); return [p.x, p.y];",
                       ep)
        page.click(x, y)
    page.until(lambda: "Back" in page.text("selection"))
    assert page.js("return [state.there.length, state.back.length]") == [2, 2]
    page.shot("path")

    # search by name, then by GUID; keys move the selection
    search = page.id("search")
    search.send_keys("sw-2-1")
    page.until(lambda: page.id("hits").is_displayed())
    search.send_keys(Keys.ENTER)
    assert page.js("return SW[state.sw].name") == "sw-2-1"
    guid = page.js("return EP[3].guid")
    search.clear()
    search.send_keys("0x" + guid, Keys.ENTER)
    assert page.js("return EP[state.ep].guid") == guid
    page.keys(Keys.ESCAPE, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, "l")
    assert page.js("return state.link") >= 0, "a key selects no link"

    # other tables, other patterns
    Select(page.id("set")).select_by_value("1")
    Select(page.id("pattern")).select_by_value("shift")
    assert "worst shift" in page.text("loadline")
    assert "lower bound" in page.text("loadline")
    both_themes(page)
    one_page(page)


def case_doctor(page):
    text = page.text("findings")
    assert "doctor, link-width: 1 link is narrower" in text, text
    assert "doctor, links-missing" in text, text
    # a finding without a place is plain text; HTML in it stays text
    assert 'doctor, planted: <b>of "another" fabric</b>' in text, text
    assert "and 11 more" in text, text
    assert "1 failure" in page.text("verdict"), page.text("verdict")
    nowhere = page.js("""return [...document.querySelectorAll('#findings li')]
        .find((l) => l.textContent === 'nowhere').querySelector('button')""")
    assert nowhere is None
    def press(part):
        page.js("""const all = [...document.querySelectorAll('#findings details')];
            const d = all.find((d) => d.querySelector('summary').textContent
                .includes(arguments[0]));
            d.open = true;
            d.querySelector('li button').click();""", part)
    press("doctor, link-width")
    link = page.js("const l = LINKS[state.link];"
                   "return [SW[l.a].name, l.pa, SW[l.b].name, l.pb, l.slow]")
    assert link[4] and ("sw-1-0", 5) in (tuple(link[0:2]), tuple(link[2:4])), link
    press("doctor, links-missing")
    assert page.js("return state.link") < 0
    assert page.js("return SW[state.sw].odd") != 0
    page.shot("doctor")


def case_faults(page):
    pods_agree(page)
    names = page.js("return D.sets.map((s) => s.name)")
    assert names == ["dmodc", "dmodc, faults, not rerouted",
                     "dmodc, faults, rerouted"], names
    Select(page.id("set")).select_by_value("1")
    assert "not sound" in page.text("judgement")
    lost = page.js("return D.sets.map((s) => s.lost)")
    assert lost[0] == 0 and lost[1] > 0 and lost[2] == 0, lost
    assert page.js("return D.sets[2].dead.length") == page.js(
        "return SW.find((s) => s.name === 'sw-2-0').links.length")
    assert "changed entries" in page.text("sets")
    # like the plugin, rerouting changes only entries whose port leads to a lost link
    changed, kept = page.driver.execute_async_script("""
        const done = arguments[0];
        Promise.all([tablesOf(0), tablesOf(2)]).then(([a, b]) => {
            let changed = 0, kept = 0;
            for (const s of SW) for (const e of EP) {
                const at = s.i * EP.length + e.i, d = exits[s.i].get(a[at]);
                if (a[at] === b[at] || s.name === 'sw-2-0')
                    continue;
                if (d !== undefined && deadLinks[2].has(d >> 1))
                    changed++;
                else
                    kept++;
            }
            done([changed, kept]);
        });""")
    assert changed > 0 and kept == 0, f"{changed} lost their link, {kept} did not"
    # the load of correct tables is never below the lower bound
    for k in (0, 2):
        most, least = page.js("const l = D.sets[arguments[0]].loads.all;"
                              "return [l.max, boundOf(arguments[0], l)];", k)
        assert 0 < least <= most, f"{least} > {most}"
    page.shot("faults")


# The page counts the links out of each pod as the library does.
def pods_agree(page):
    assert page.js("return D.sets[0].dead.length") == 0
    # n links lead out of a pod, and the most loaded link has m flows: at most n * m flows cross
    assert page.js("""
        const bounded = (load, k) => PODS.every((p, i) =>
            Math.max(load.out[i], load.in[i]) <= load.max * linksOut[k][i]);
        return PODS.length > 0 && D.sets.every((s, k) =>
            s.loads.all.lost || bounded(s.loads.all, k));""")


def case_loop(page):
    pods_agree(page)
    assert "not sound" in page.text("judgement")
    n = page.js("return D.sets[0].cycle.length")
    assert n > 2, f"{n} links in the loop"
    assert "Credit loop" in page.text("findings")
    loop = page.js("return colour.loop").lstrip("#")
    found = page.js("""
        const d = ctx.getImageData(0, 0, canvas.width, canvas.height).data;
        let n = 0;
        for (let i = 0; i < d.length; i += 4)
            n += (d[i] << 16 | d[i + 1] << 8 | d[i + 2]) === arguments[0];
        return n;""", int(loop, 16))
    assert found > 100, f"the loop has {found} pixels"
    page.shot("loop")


def case_diff(page):
    text = page.text("findings")
    assert "3 links were removed" in text, text
    assert "1 host was removed" in text, text
    assert page.js("return LINKS.filter((l) => l.state === OLD).length") == 3
    # the new state is shown first; each removed link is drawn once, as a missing one
    assert page.js("return D.sets[state.set].name") == "dmodc, new"
    assert page.js("return deadLinks[state.set].size + shownMissing.length") == 3
    for k in (0, 1):
        most, least = page.js("const l = D.sets[arguments[0]].loads.all;"
                              "return [l.max, boundOf(arguments[0], l)];", k)
        assert 0 < least <= most, f"{least} > {most}"
    page.shot("diff")


def case_traffic(page):
    Select(page.id("pattern")).select_by_value("pairs")
    page.until(lambda: "flows" in page.text("loadline"))
    # the flows of every link are those of the paths of the pairs
    wrong = page.driver.execute_async_script("""
        const done = arguments[0], by = new Map(EP.map((e) => [e.name, e.i]));
        tablesOf(0).then((t) => {
            const load = D.sets[0].loads.pairs.load.map(() => 0);
            for (let i = 0; i < 4; i++)
                for (const d of walk(t, 0, by.get('host-' + i),
                                     by.get('host-' + (i + 8))).path)
                    if (d >= 0 && d < load.length)
                        load[d]++;
            const is = D.sets[0].loads.pairs.load;
            done([is.filter((n, d) => n !== load[d]).length,
                  is.reduce((a, b) => a + b, 0)]);
        });""")
    assert wrong == [0, 8], wrong
    most, least = page.js("const l = D.sets[0].loads.pairs;"
                          "return [l.max, boundOf(0, l)];")
    assert 0 < least <= most <= 4, f"{least} > {most}"
    page.shot("traffic")


def case_hostile(page):
    title = page.driver.title
    assert title == "ibfattree: f.net", f"a name changed the title to {title}"
    assert page.js("return document.images.length") == 0
    assert page.js("return document.scripts.length") == 2
    names = page.js("return EP.map((e) => e.name)")
    assert any("<img src=x" in n for n in names), names
    page.id("search").send_keys("onerror", Keys.ENTER)
    assert "<img src=x onerror=alert(1)>" in page.text("selection")


def case_large(page):
    size = os.path.getsize(page.path) / 1e6
    assert page.js("return D.sets.map((s) => s.name)") == ["dmodc"]
    assert page.js("return D.tables[0].length > 0"), "the tables do not fit"
    cpu = page.cpu()
    took = page.js("const [n] = performance.getEntriesByType('navigation');"
                   "return n.domContentLoadedEventEnd / 1000")
    draw = page.js("const t = performance.now(); draw();"
                   "return performance.now() - t")
    links = page.js("return LINKS.length")
    assert links == 30200, links
    print(f"measured: {page.js('return SW.length')} switches, {links} links: "
          f"{size:.1f} MB, drawn {took:.2f} s after opening, "
          f"{cpu:.2f} s of CPU, drawn again in {draw:.0f} ms")
    assert size < 5, f"{size:.1f} MB"
    # 2 s on an idle machine; the limit leaves room for other load on the same cores
    assert cpu < 6, f"{cpu:.1f} s of CPU"
    assert page.js("return view.aggregated"), "not aggregated"
    page.shot("large")
    page.id("search").send_keys("host-17000", Keys.ENTER)
    assert not page.js("return view.zoom") == 1
    page.js("draw()")
    assert not page.js("return view.aggregated"), "the enlarged picture shows no single links"
    page.js("pathEnd('a', 5); pathEnd('b', 17000);")
    page.until(lambda: "Back" in page.text("selection"))
    assert page.js("return state.there.length") in (2, 4)
    page.shot("large-zoom")


def case_topograph(page):
    assert page.js("return MISSING.reduce((n, m) => n + m.n, 0)") == 26
    assert "26 (of 558)" in page.text("verdict")
    assert "most loaded link" in page.text("loadline")
    # the load is even, so no link has the darkest colour: the scale ends at twice the bound
    assert "lower bound" in page.text("legend")
    most = page.js("const l = loadNow(); return heat(l.max, scaleEnd(l));")
    assert 2 <= most <= 5, most
    assert page.js("return heat(2 * boundOf(0, loadNow()), scaleEnd(loadNow()))") == 7
    # the missing links are listed; if a pair of switches is selected, its links are drawn
    assert "26 links are missing, between 16 pairs" in page.text("findings")
    before = page.js("draw(); return canvas.toDataURL()")
    page.id("findings").find_element(By.CSS_SELECTOR, "button.link").click()
    assert page.js("return state.missing") == 0
    assert page.js("fit(); draw(); return canvas.toDataURL()") != before
    page.shot("topograph-missing")
    page.keys(Keys.ESCAPE)
    # all hosts have the same NodeDescription
    names = page.js("return EP.filter((e) => !e.an).map((e) => epName(e.i))")
    assert len(set(names)) == len(names), "names are not unique"
    # lists have the short names
    worst = page.js("return dirName(worst(loadNow(), 1)[0])")
    assert "MQM9701" not in worst and worst in page.text("verdict"), worst
    # names in the picture omit the parts that all names have in common
    names = page.js("return SW.map((s) => [s.name, shortName(s)])")
    assert all(long == "MF0;" + short + ":MQM9701/U1" for long, short in names), names
    page.shot("topograph")
    one_page(page)


def main():
    name, path, directory = sys.argv[1:4]
    page = Page(path, directory)
    try:
        globals()["case_" + name](page)
    except Exception:
        page.shot("failed")
        page.driver.quit()
        raise
    page.end()


began = time.time()
main()

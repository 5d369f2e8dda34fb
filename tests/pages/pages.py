#!/usr/bin/env python3
"""The pages of perf-ab and of the library, in Chromium: three widths, light and dark.

    pages.py TOOL FLAME-PROGRAM
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tool"))
from tool import DATA, Checks  # noqa: E402

WIDTHS = (360, 800, 1400)
# Text that the page cuts on purpose: the name in a box of a flame page.  The whole stands in its title.
CUT = "#g div, #all b"

LOOK = """
const [width, cut] = arguments, wrong = [];
const numbers = c => (c.match(/[\\d.]+/g) || []).map(Number);
const light = c => c.slice(0, 3).map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const behind = e => {
    for (; e; e = e.parentElement) {
        const c = numbers(getComputedStyle(e).backgroundColor);
        if (c.length && !(c.length > 3 && c[3] === 0)) return c;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches &&
        getComputedStyle(document.documentElement).colorScheme.includes('dark') ? [18, 18, 18] : [255, 255, 255];
};
const root = document.scrollingElement;
if (root.scrollWidth > width + 1) wrong.push(`the page is ${root.scrollWidth} px wide`);
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let seen = 0;
while (texts.nextNode()) {
    const text = texts.currentNode, e = text.parentElement, style = getComputedStyle(e);
    if (!text.textContent.trim() || e.closest('script, style, title') || style.visibility === 'hidden') continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const r = range.getBoundingClientRect();
    if (!r.width || !r.height) continue;
    seen++;
    const words = text.textContent.trim().slice(0, 40);
    if (!e.closest(cut) && (r.right > width + 1 || r.left < -1)) wrong.push(`cut at ${r.right}: ${words}`);
    const svg = e.namespaceURI.endsWith('svg');
    const ink = light(numbers(svg ? style.fill : style.color)), paper = light(behind(e));
    const contrast = (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05);
    if (contrast < 4.5) wrong.push(`contrast ${contrast.toFixed(2)}: ${words}`);
    const size = parseFloat(style.fontSize) * (svg && e.ownerSVGElement.viewBox.baseVal.width ?
        e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width : 1);
    if (size < 8.9) wrong.push(`letters of ${size.toFixed(1)} px: ${words}`);
}
return [seen, [...new Set(wrong)].slice(0, 5)];
"""


def browser():
    """A Chromium that is driven; skips where one of the three parts is missing, or it does not start."""
    lacks = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    try:
        from selenium import webdriver
        from selenium.common.exceptions import WebDriverException
    except ImportError:
        lacks.append("selenium (tests/python.txt)")
    if lacks:
        print(f"skipped: no {' and no '.join(lacks)}")
        sys.exit(1 if os.environ.get("CI") == "true" else 77)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--allow-file-access-from-files"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    except WebDriverException as error:
        print(f"skipped: Chromium does not start here: {str(error).splitlines()[0]}")
        sys.exit(77)


def at(driver, width, theme, page):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
    driver.get(page.as_uri())


def picture(driver, page, width, theme):
    """For who wants to look: PICTURES names a folder."""
    if os.environ.get("PICTURES"):
        driver.get_screenshot_as_file(f"{os.environ['PICTURES']}/{page.stem}-{width}-{theme}.png")


def quiet(c, driver, page, when):
    """Nothing on the console, nothing asked of the network."""
    said = [e["message"] for e in driver.get_log("browser")]
    c.check(not said, f"{page.name}, {when}: the console says {said[:3]}")
    events = [json.loads(e["message"])["message"] for e in driver.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    others = [url for url in asked if not url.startswith(("file:", "data:", "about:"))]
    c.check(not others, f"{page.name}, {when}: asked for {others[:3]}")
    return len(asked)


def looked_at(c, driver, page, widths=WIDTHS):
    loads = 0
    for width in widths:
        for theme in ("light", "dark"):
            at(driver, width, theme, page)
            seen, wrong = driver.execute_script(LOOK, width, CUT)
            c.check(seen > 3 and not wrong, f"{page.name}, {width} px, {theme}: {seen} texts, {wrong}")
            picture(driver, page, width, theme)
            loads += quiet(c, driver, page, f"{width} px, {theme}")
    c.check(loads >= 2 * len(widths), f"{page.name}: the log of the network has {loads} entries")


def keys(driver, *names):
    from selenium.webdriver import ActionChains, Keys
    for name in names:
        ActionChains(driver).send_keys(getattr(Keys, name, name)).perform()


def tap(driver, element):
    """A finger, not a mouse."""
    box = driver.execute_script("const r = arguments[0].getBoundingClientRect(); return [r.x + 3, r.y + r.height / 2]",
                                element)
    points = [{"x": box[0], "y": box[1]}]
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points})
    driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def the_flame(c, driver, page):
    """Zoom, search and the way back, by mouse, keyboard and finger."""
    find = driver.find_elements
    at(driver, 800, "light", page)
    c.check("flame" in driver.title, f"title: {driver.title}")

    def names():
        return [e.text.split(" ")[0] for e in find("css selector", "#g div") if e.text]

    def box(name):
        return next(e for e in find("css selector", "#g div") if e.text.startswith(name))

    whole = names()
    c.check({"turn", "load", "decode", "train"} <= set(whole), f"boxes: {whole}")
    train = box("train").size["width"]
    c.check(abs(train / box("turn").size["width"] - 0.6) < 0.02, "a width is a share of the time")
    box("train").click()
    c.check(box("train").size["width"] > 700 and "load" not in names(), f"zoomed: {names()}")
    said = driver.find_element("id", "d").text
    c.check(said.startswith("train: 60.0 us in 10 calls, 60.0 us itself, 60.0 % of all"), f"figures: {said}")
    keys(driver, "ESCAPE")
    c.check(names() == whole, f"Escape: {names()}")

    driver.find_element("id", "q").send_keys("DEC")
    c.check("30.0 us, 30.0 %" in driver.find_element("id", "d").text, "search: " + driver.find_element("id", "d").text)
    dim = [e.text.split(" ")[0] for e in find("css selector", "#g .dim")]
    c.check("train" in dim and "decode" not in dim, f"dim: {dim}")
    driver.find_element("id", "q").clear()
    keys(driver, "ESCAPE")

    driver.execute_script("arguments[0].focus()", box("turn"))
    keys(driver, "TAB")
    focus = driver.execute_script("return document.activeElement.textContent")
    c.check(focus.startswith("train"), f"Tab after turn: {focus}")
    keys(driver, "ENTER")
    c.check("decode" not in names() and driver.execute_script("return document.activeElement.textContent").startswith(
        "train"), f"Enter: {names()}")
    keys(driver, "ESCAPE")
    at(driver, 360, "light", page)
    tap(driver, box("decode"))
    c.check("train" not in names(), f"a tap: {names()}")
    quiet(c, driver, page, "used")


def the_look(c, driver, page):
    """perf-ab look's flame page: the same, boxes inside boxes."""
    at(driver, 800, "light", page)

    def box(name):
        return next(e for e in driver.find_elements("css selector", "#all b") if e.text == name)

    def shown():
        return [e.text for e in driver.find_elements("css selector", "#all b") if e.is_displayed()]

    whole = shown()
    box("decode").click()
    c.check("load" not in shown() and "decode" in shown(), f"zoomed: {shown()}")
    c.check("decode: 30.0 us" in driver.find_element("id", "says").text, driver.find_element("id", "says").text)
    keys(driver, "ESCAPE")
    c.check(shown() == whole, f"Escape: {shown()}")
    driver.execute_script("arguments[0].parentElement.focus()", box("load"))
    keys(driver, "ENTER")
    c.check("train" not in shown() and "load" in shown(), f"Enter: {shown()}")
    keys(driver, "ENTER")
    c.check("train" in shown(), f"Enter again: {shown()}")
    quiet(c, driver, page, "used")


def the_history(c, driver, page):
    at(driver, 800, "light", page)
    shown = [e for e in driver.find_elements("css selector", "section") if e.is_displayed()]
    driver.find_element("id", "filter").send_keys("STEP")
    left = [e for e in driver.find_elements("css selector", "section") if e.is_displayed()]
    c.check(len(shown) == 2 and len(left) == 1 and left[0].text.startswith("step"), f"filter: {len(left)} of {len(shown)}")
    quiet(c, driver, page, "used")


def pages(c, flame):
    """The pages."""
    made = {name: c.work / f"{name}.html" for name in ("report", "long", "wide", "history", "flame", "look")}
    c.run(DATA / "google_a.json", DATA / "google_b.json", "--quiet", "--html", made["report"])
    name = "std::map<std::basic_string<char, std::char_traits<char>>, std::vector<long>>::emplace/" + "4096/" * 12
    sides = [c.file(f"{side}.json", json.dumps({"perf_results": 1, "benchmarks": [
        {"name": name, "unit": "ns", "samples": [1e6 * k + i for i in range(40)]}]})) for k, side in ((1, "a"), (2, "b"))]
    c.run(*sides, "--quiet", "--html", made["long"])
    odd = ["<script>alert(1)</script>", "\U0001f680 rocket", "\u05e9\u05dc\u05d5\u05dd/parse", "x" * 255, "\u65e5" * 85]
    sides = [c.file(f"{side}.json", json.dumps({"perf_results": 1, "benchmarks": [
        {"name": name, "unit": "us", "design": "random",
         "samples": [10 * k ** (-1) ** n * (1 + (i * 7 % 12) / 90) for i in range(12)]}
        for n, name in enumerate(odd + [f"group/{i}" for i in range(30)])]})) for k, side in ((1, "a"), (1.25, "b"))]
    c.run(*sides, "--accept", "speedup >= 1.3", "--accept", "down >= 5 % on mean", "--quiet", "--html", made["wide"])
    nights = c.file("nights.json", json.dumps({
        "perf_results": 1,
        "runs": [{"run": str(k), "time": 1795600000 + 86400 * k, "machine": "box", "label": f"c{k}"} for k in range(40)],
        "benchmarks": [{"name": n, "unit": "ns", "run": str(k), "samples": [(100 + k % 3) * (step if k > 20 else 1)] * 7}
                       for k in range(40) for n, step in (("steady", 1), ("step", 1.2))]}))
    c.run("history", nights, "--html", made["history"])
    process = subprocess.Popen([flame, made["flame"], "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        c.check(process.stdout.readline() == "ready\n", "the program with scopes")
        status, _, err = c.run("look", str(process.pid), "--flame", made["look"])
        c.check(status == 0, f"look: {err}")
    finally:
        process.communicate("\n")
    return made


def main():
    c = Checks("pages")
    driver = browser()
    try:
        made = pages(c, sys.argv[2])
        for page in made.values():
            looked_at(c, driver, page, (1024, 1300) if page == made["wide"] else WIDTHS)
        the_flame(c, driver, made["flame"])
        the_look(c, driver, made["look"])
        the_history(c, driver, made["history"])
    finally:
        driver.quit()
    c.finish()


if __name__ == "__main__":
    main()

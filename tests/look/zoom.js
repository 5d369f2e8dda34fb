// The script of a flame page, run on boxes made from its text: node zoom.js PAGE
const text = require('fs').readFileSync(process.argv[2], 'utf8');
let failed = 0;
const check = (good, what) => { if (!good) { failed++; console.log('FAILED: ' + what); } };

class Box {
    constructor(tag, parent) {
        Object.assign(this, {tagName: tag, parentElement: parent, children: [], title: '', names: new Set()});
        this.classList = {add: (...n) => n.forEach(x => this.names.add(x)), remove: (...n) => n.forEach(x => this.names.delete(x))};
        if (parent) parent.children.push(this);
    }
    all() { return this.children.flatMap(c => [c, ...c.all()]); }
    querySelectorAll() { return this.all().filter(e => e.tagName === 'DIV'); }
    closest() {
        for (let e = this; e && e !== all; e = e.parentElement) if (e.tagName === 'DIV') return e;
        return null;
    }
}
const root = new Box('BODY', null), all = new Box('P', root), says = {textContent: ''};
let at = all;
for (const m of text.split('<p id="all">')[1].split('<script>')[0].matchAll(/<(\/?)(div|p|b)\b(?:[^>]*?title="([^"]*)")?[^>]*>/g)) {
    if (m[1]) { if (at !== all) at = at.parentElement; continue; }
    at = new Box(m[2].toUpperCase(), at);
    at.title = m[3] || '';
}
global.document = {getElementById: id => id === 'all' ? all : says};
new Function(text.match(/<script>([^]*)<\/script>/)[1] + ';globalThis.keys=onkeydown;').call(global);
const boxes = all.querySelectorAll(), leaf = boxes.find(b => b.title.startsWith('leaf:') && b.parentElement.children.length > 1);
check(leaf && leaf.closest() === leaf, 'no box of leaf');
const tap = e => all.onclick({target: e.children.find(c => c.tagName === 'B')});
tap(leaf);
check(leaf.names.has('here') && leaf.names.has('wide'), 'the box that was tapped is not wide');
check(says.textContent === leaf.title, 'its figures are not shown');
const beside = leaf.parentElement.children.filter(c => c !== leaf);
check(beside.length && beside.every(b => b.names.has('out')), 'those beside it are not hidden');
check(leaf.parentElement.parentElement.names.has('wide'), 'the one around it is not wide');
tap(leaf);
check(!leaf.names.has('here') && leaf.parentElement.parentElement.names.has('here'), 'a second tap does not go back');
globalThis.keys({key: 'Escape'});
check(boxes.every(b => !b.names.size), 'Escape does not show the whole');
process.exit(failed ? 1 : 0);

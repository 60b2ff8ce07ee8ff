/// An accessibility audit of the open page for keyboard users and people with low vision.
///
/// Each finding is a sentence; a good page has none. The checks follow WCAG 2.2 level AA, with a contrast
/// of 4.5 : 1 for text of any size.
enum PageAudit {
    static func findings(in browser: Browser) async throws -> [String] {
        try await browser.execute(script).array?.compactMap(\.string) ?? ["the audit did not run"]
    }

    /// Returns the controls without visible keyboard focus (WCAG 2.4.7, 2.4.11).
    static func unseenFocus(in browser: Browser) async throws -> [String] {
        let script = """
            const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), textarea, select, summary, [tabindex="0"]')];
            const before = document.activeElement;
            const unseen = all.filter(e => e.checkVisibility() && e.tabIndex >= 0 && !e.disabled).filter(e => {
              e.focus();
              const style = getComputedStyle(e), box = e.getBoundingClientRect();
              const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
              return document.activeElement !== e || !outlined || box.bottom <= 0 || box.top >= innerHeight;
            });
            before?.focus();
            return unseen.map(e => `the focus does not show: ${e.outerHTML.slice(0, 90)}`);
            """
        return try await browser.execute(script).array?.compactMap(\.string) ?? ["the audit did not run"]
    }

    private static let script = #"""
        const findings = [];
        const say = (what, e) => findings.push(e ? `${what}: ${e.outerHTML.slice(0, 90)}` : what);
        const all = css => [...document.querySelectorAll(css)];

        // 3.1.1, 2.4.2, 1.3.1: language, title, one heading to start with, landmarks.
        if (!/^(en|de|nb|fr|es)$/.test(document.documentElement.lang)) say('no language');
        if (!document.title.trim()) say('no title');
        if (all('h1').length !== 1) say(`${all('h1').length} first headings`);
        if (all('main').length !== 1) say('no main landmark');
        if (!document.querySelector('meta[name=viewport]')) say('no viewport');
        if (/maximum-scale|user-scalable/.test(document.querySelector('meta[name=viewport]')?.content)) say('zoom is locked');
        if (document.querySelector('meta[name=robots]')?.content !== 'noindex') say('may be indexed');
        let level = 0;
        for (const h of all('h1,h2,h3,h4,h5,h6')) {
          const next = Number(h.tagName[1]);
          if (next > level + 1) say('a heading level is skipped', h);
          level = next;
        }
        const ids = all('[id]').map(e => e.id);
        if (new Set(ids).size !== ids.length) say('an id is there twice');

        // 1.3.1, 4.1.2, 1.3.5: names of fields and controls, and where descriptions point.
        for (const e of all('input:not([type=hidden], [aria-hidden=true]), textarea, select')) {
          // In details that are closed a label has no text that is laid out.
          const text = l => e.checkVisibility() ? l.innerText : l.textContent;
          if (![...e.labels].some(l => text(l).trim()) && !e.ariaLabel) say('a field without a label', e);
          if (['text', 'email', 'password'].includes(e.type) && !e.autocomplete) say('a field without its purpose', e);
        }
        for (const e of all('button, a[href]').filter(e => e.checkVisibility())) if (!e.innerText.trim()) say('a control without a name', e);
        for (const e of all('[aria-describedby], [aria-labelledby]'))
          for (const id of `${e.getAttribute('aria-describedby') ?? ''} ${e.getAttribute('aria-labelledby') ?? ''}`.trim().split(/\s+/))
            if (!document.getElementById(id)) say(`points at #${id}, which is not there`, e);
        for (const e of all('svg, img'))
          if (!e.closest('[aria-hidden=true]') && !e.getAttribute('alt') && !e.getAttribute('aria-label') && !(e.getAttribute('aria-labelledby') ?? '').trim().split(/\s+/).some(id => document.getElementById(id)?.textContent.trim())) say('a picture without words', e);
        // The message about a passkey is hidden until one fails, and belongs to no field.
        if (all('[role=alert]').some(e => e.checkVisibility())) {
          if (document.querySelector('#password') && !document.querySelector('[data-unknown]') && !all('[aria-invalid=true]').length) say('an error at no field', document.body);
          for (const e of all('[aria-invalid=true]'))
            if (!(e.getAttribute('aria-describedby') ?? '').split(' ')
              .some(id => id === 'problem' || document.getElementById(id)?.querySelector('.wrong'))) say('an error not tied to its field', e);
        }

        // The page's own rules: nothing inline, nothing from elsewhere.
        for (const e of all('[style], style, iframe, object, embed, base')) say('not allowed on a page', e);
        for (const e of all('script'))
          if (!document.body.matches('.console, :has(form[data-goes-on], form[data-passkey])') || !e.defer || !/^\.?\/assets\//.test(e.getAttribute('src')) || e.text) say('not allowed on a page', e);
        for (const e of all('*')) for (const a of e.attributes) if (a.name.startsWith('on')) say('an inline handler', e);

        // 1.4.3 and 1.4.11: contrast of text and of the edges of fields.
        const parse = text => {
          const n = text.match(/[\d.]+(?:e-?\d+)?/g).map(Number);
          if (text.startsWith('color(')) { for (let i = 0; i < 3; i++) n[i] *= 255; }
          return { r: n[0], g: n[1], b: n[2], a: n[3] ?? 1 };
        };
        const over = (top, under) => ({
          r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a),
          b: top.b * top.a + under.b * (1 - top.a), a: 1,
        });
        const ground = e => {
          const layers = [];
          for (let at = e; at; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            layers.push(colour);
            if (colour.a === 1) break;
          }
          return layers.reverse().reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
        };
        const luminance = c => [c.r, c.g, c.b].map(v => v / 255)
          .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
          .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const contrast = (a, b) => {
          const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
          return (high + 0.05) / (low + 0.05);
        };
        const judge = (what, e, colour, behind, least) => {
          const ratio = contrast(over(colour, behind), behind);
          if (!(ratio >= least)) say(`${what} ${ratio.toFixed(2)} : 1`, e);
        };
        const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (words.nextNode()) {
          const e = words.currentNode.parentElement;
          if (words.currentNode.data.trim() && e.checkVisibility()) judge('text at', e, parse(getComputedStyle(e).color), ground(e), 4.5);
        }
        for (const e of all('input:not([type=hidden], [aria-hidden=true]), textarea, select')) {
          judge('typed text at', e, parse(getComputedStyle(e).color), ground(e), 4.5);
          if (!['checkbox', 'radio'].includes(e.type)) judge('the edge at', e, parse(getComputedStyle(e).borderTopColor), ground(e.parentElement), 3);
        }
        for (const e of all('.icon')) judge('a picture at', e, parse(getComputedStyle(e).color), ground(e), 3);

        // 2.5.8 and our own wish: things to press are 44 pixels high, or a whole row.
        const pressed = 'button, .button, label:has(input[type=checkbox], input[type=radio]), .field :is(input, textarea, select)';
        for (const e of all(pressed).filter(e => e.checkVisibility())) {
          const box = e.getBoundingClientRect();
          if (box.height < 44 || box.width < 44) say(`only ${box.width.toFixed()} by ${box.height.toFixed()} pixels`, e);
        }

        // 2.5.8: every other target is 24 pixels wide and high, or far enough from the next, except links in sentences.
        const targets = all('a[href], button, summary, input:not([type=hidden], [aria-hidden=true]), textarea, select')
          .filter(e => e.checkVisibility() && !e.matches('.skip'))
          .map(e => ({ e, box: (e.closest('label') ?? e).getBoundingClientRect() }));
        const middle = ({ box }) => [box.left + box.width / 2, box.top + box.height / 2];
        for (const target of targets) {
          const { e, box } = target;
          if (box.height >= 24 && box.width >= 24) continue;
          if (e.matches('a') && getComputedStyle(e).display === 'inline' && e.parentElement.innerText.trim() !== e.innerText.trim()) continue;
          const [x, y] = middle(target);
          const near = targets.find(other => other.e !== e && (([a, b]) => Math.hypot(a - x, b - y) < 24)(middle(other)));
          if (near) say(`a target of only ${box.width.toFixed()} by ${box.height.toFixed()} pixels beside another`, e);
        }

        // 2.3.3: nothing moves for someone who wants less motion.
        if (matchMedia('(prefers-reduced-motion: reduce)').matches)
          for (const e of all('*')) {
            const { transitionDuration, animationName } = getComputedStyle(e);
            if (/[1-9]/.test(transitionDuration) || animationName !== 'none') say('moves', e);
          }

        // 1.4.10: nothing is wider than the window, nothing is cut off.
        const wide = document.documentElement.scrollWidth;
        if (wide > innerWidth) say(`${wide} pixels wide in a window of ${innerWidth}`);
        for (const e of all('main *')) {
          const box = e.getBoundingClientRect();
          if (box.width > 1 && (box.right > innerWidth + 0.5 || box.left < -0.5) && e.checkVisibility()) say('reaches out of the window', e);
        }

        // A heading of one word stands in one line. Otherwise its column is as narrow as a few letters.
        for (const e of all('thead th').filter(e => e.checkVisibility() && /^\S+$/.test(e.innerText.trim()))) {
          const words = document.createRange();
          words.selectNodeContents(e);
          if (words.getClientRects().length > 1) say('a heading that breaks within its word', e);
        }

        // A word of a table stands in one line, in its column. Names and identifiers may be longer than a column.
        const cells = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (cells.nextNode()) {
          const node = cells.currentNode, e = node.parentElement, cell = e.closest('.side td');
          if (!cell || !e.checkVisibility() || e.closest('bdi, code, .hidden')) continue;
          const { right } = cell.getBoundingClientRect();
          for (const word of node.data.matchAll(/\p{L}+/gu)) {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            const boxes = [...range.getClientRects()];
            if (boxes.some(box => box.top > boxes[0].bottom - 1)) say('a word that breaks in its column', e);
            if (boxes.some(box => box.right > right + 1)) say('a word that leaves its column', e);
          }
        }
        return findings;
        """#
}

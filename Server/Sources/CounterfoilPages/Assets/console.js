// Enhancements of the console. Its pages also work without this script.
(() => {
  'use strict';
  const root = document.documentElement;
  const say = text => { document.getElementById('said').textContent = text; };
  root.classList.add('js');

  // Buttons that copy the code next to them.
  for (const button of document.querySelectorAll('.copy')) {
    const label = button.querySelector('span');
    const before = [...label.childNodes];
    let timer;
    button.addEventListener('click', async () => {
      const code = button.closest('[data-copy]').querySelector('code');
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        // Without access to the clipboard, as on plain http, the text is selected and copied as with the keyboard.
        getSelection().selectAllChildren(code);
        if (!document.execCommand('copy')) return;
      }
      label.textContent = button.dataset.done;
      say(button.dataset.done);
      clearTimeout(timer);
      timer = setTimeout(() => { label.replaceChildren(...before); say(''); }, 2000);
    });
  }

  // Buttons that show a new password while the user types it. It is hidden again before the form is sent.
  for (const field of document.querySelectorAll('[data-show]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.textContent = field.dataset.show;
    const show = isShown => {
      field.type = isShown ? 'text' : 'password';
      button.setAttribute('aria-pressed', isShown);
    };
    show(false);
    button.addEventListener('click', () => show(field.type === 'password'));
    field.form.addEventListener('submit', () => show(false));
    field.after(button);
  }

  // Validation of the lines of a field while the user types.
  const model = name => document.getElementById(name).content.cloneNode(true);
  const example = ({ uri, matches, why }) => {
    const one = model(matches ? 'example-matches' : 'example-differs');
    one.querySelector('code').textContent = uri;
    one.querySelector('li li').textContent = why;
    return one;
  };
  const item = ({ uri, state, words, examples }) => {
    const one = model(`verdict-${state}`);
    one.querySelector('code').textContent = uri;
    one.querySelector('ul').append(...words.map(text => {
      const line = document.createElement('li');
      line.textContent = text;
      return line;
    }));
    one.querySelector('details ul')?.append(...examples.map(example));
    return one;
  };
  for (const field of document.querySelectorAll('textarea[data-verdicts]')) {
    const list = document.getElementById(`${field.id}-verdicts`);
    let timer, asked;
    const judge = async () => {
      asked?.abort();
      asked = new AbortController();
      // The whole form is sent, because bundle identifiers and package names affect the result.
      const body = new URLSearchParams(new FormData(field.form));
      try {
        const answer = await fetch(field.dataset.verdicts, { method: 'POST', body, signal: asked.signal });
        if (!answer.ok) return;
        const verdicts = await answer.json();
        list.replaceChildren(...verdicts.map(item));
        say([...list.querySelectorAll(':scope > li > div > b')].map(state => state.textContent).join(', '));
      } catch {
        // The server validates again when the form is sent.
      }
    };
    const soon = () => { clearTimeout(timer); timer = setTimeout(judge, 400); };
    field.addEventListener('input', soon);
    for (const other of field.form.querySelectorAll('[name=apple_apps], [name=android_apps]')) {
      other.addEventListener('change', soon);
    }
    if (field.value.trim() && !list.children.length) judge();
  }

  // Times in the time zone of the browser, on a page of a GET request whose URL names none.
  const zone = document.querySelector('[data-zone]');
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const here = new URL(location);
  if (zone && own && zone.value !== own) {
    here.searchParams.set('zone', own);
    location.replace(here);
  }

  // A preview of the chosen colour and name.
  const preview = document.querySelector('[data-preview]');
  if (preview) {
    const colour = document.querySelector('input[type=color]');
    colour?.addEventListener('input', () => {
      preview.style.setProperty('--picked', colour.value);
      preview.classList.add('live');
    });
    for (const place of preview.querySelectorAll('[data-shows]')) {
      const field = document.getElementById(place.dataset.shows);
      field?.addEventListener('input', () => { place.textContent = field.value || place.dataset.otherwise; });
    }
  }
})();

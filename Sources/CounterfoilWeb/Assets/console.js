// The comforts of the console: everything on its pages works without them.
(() => {
  'use strict';
  const root = document.documentElement;
  const say = text => { document.getElementById('said').textContent = text; };
  root.classList.add('js');

  // A button that copies the code beside it.
  for (const button of document.querySelectorAll('.copy')) {
    const label = button.querySelector('span');
    const before = [...label.childNodes];
    let timer;
    button.addEventListener('click', async () => {
      const code = button.closest('[data-copy]').querySelector('code');
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        // Without leave to write to the clipboard, as on plain http, the text is selected and copied as by the keyboard.
        getSelection().selectAllChildren(code);
        if (!document.execCommand('copy')) return;
      }
      label.textContent = button.dataset.done;
      say(button.dataset.done);
      clearTimeout(timer);
      timer = setTimeout(() => { label.replaceChildren(...before); say(''); }, 2000);
    });
  }

  // Verdicts on the lines of a field while they are typed.
  const item = ({ uri, state, words }) => {
    const one = document.getElementById(`verdict-${state}`).content.cloneNode(true);
    one.querySelector('code').textContent = uri;
    one.querySelector('ul').append(...words.map(text => {
      const line = document.createElement('li');
      line.textContent = text;
      return line;
    }));
    return one;
  };
  for (const field of document.querySelectorAll('textarea[data-verdicts]')) {
    const list = document.getElementById(`${field.id}-verdicts`);
    let timer, asked;
    const judge = async () => {
      asked?.abort();
      asked = new AbortController();
      const form = new FormData(field.form);
      const body = new URLSearchParams({ redirect_uris: field.value });
      for (const name of ['type', 'ticket']) if (form.has(name)) body.set(name, form.get(name));
      try {
        const answer = await fetch(field.dataset.verdicts, { method: 'POST', body, signal: asked.signal });
        if (!answer.ok) return;
        const verdicts = await answer.json();
        list.replaceChildren(...verdicts.map(item));
        say([...list.querySelectorAll('b')].map(state => state.textContent).join(', '));
      } catch {
        // Verdicts come again when the form is sent.
      }
    };
    const soon = () => { clearTimeout(timer); timer = setTimeout(judge, 400); };
    field.addEventListener('input', soon);
    for (const choice of field.form.querySelectorAll('[name=type]')) choice.addEventListener('change', soon);
    if (field.value.trim() && !list.children.length) judge();
  }

  // The look that a colour and a name would give.
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

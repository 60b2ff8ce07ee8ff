/* Submits the form of the page automatically. It uses only the syntax of ECMAScript 3, which every engine parses. */
(function () {
  var forms = document.getElementsByTagName('form');
  for (var i = 0; i < forms.length; i += 1) {
    if (forms[i].getAttribute('data-goes-on') !== null) {
      forms[i].submit();
      break;
    }
  }
}());

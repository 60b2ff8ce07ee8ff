/* Submits the form of a page that goes on by itself. In the syntax of ECMAScript 3, which every engine parses. */
(function () {
  var forms = document.getElementsByTagName('form');
  for (var i = 0; i < forms.length; i += 1) {
    if (forms[i].getAttribute('data-goes-on') !== null) {
      forms[i].submit();
      break;
    }
  }
}());

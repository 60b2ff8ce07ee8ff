/// A page that the server shows to a user: a value that has the contents of the page but no markup.
///
/// An endpoint creates the value, and the module of the pages renders it with a template. All texts in the value are
/// plain text in the user's language, which the renderer escapes. Untrusted names have the type
/// ``DisplayName``. A ``Frame`` adds the name and look of the service and the language.
///
/// To add a page, write a struct that conforms to this protocol and a template.
package protocol Page: Sendable {
    /// The name of the template that renders the page.
    static var template: String { get }
    /// The script that the page loads; nil if it loads none.
    ///
    /// The template adds the `script` element, and the Content Security Policy of the response allows the script.
    var script: PageScript? { get }
    /// The URL of a client to which the page leads by a link, a form or a redirect; nil if there is none.
    var leadsTo: String? { get }
    /// Whether the form of the page is posted to ``leadsTo``.
    var postsToClient: Bool { get }

    /// Returns the variables of the template in addition to `page`, which is the value itself.
    func values(in frame: Frame) -> [String: (any Sendable)?]
}

extension Page {
    package var script: PageScript? { nil }
    package var leadsTo: String? { nil }
    package var postsToClient: Bool { false }
    package func values(in frame: Frame) -> [String: (any Sendable)?] { [:] }
}

package enum PageScript: Sendable, Hashable {
    /// A script that copies texts to the clipboard, and sends requests to the server while the user types.
    case interactive
    /// A script that signs in with a passkey, adds one, and notifies the browser of changes.
    case passkeys
    /// A script that submits the form of the page without an action of the user.
    case proceed
}

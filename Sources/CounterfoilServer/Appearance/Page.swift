/// A page that the server shows to a user, as a value with its contents and without its look.
///
/// An endpoint builds the value, the web layer renders it with a template. Every text in it is plain text
/// in the user's language, which the renderer escapes. Untrusted names are ``DisplayName``s. A ``Frame``
/// adds the service and the language.
///
/// A new page is a struct that conforms to this protocol, and a template.
package protocol Page: Sendable {
    /// The name of the template.
    static var template: String { get }
    /// The script that the page loads; nil for most. Both the document and its security policy follow from it.
    var script: PageScript? { get }
    /// The URL of a client that the page links to, posts a form to or continues to; nil if there is none.
    var leadsTo: String? { get }
    /// Whether the form of the page is posted to ``leadsTo``.
    var postsToClient: Bool { get }

    /// Returns the template's variables in addition to `page`, which is the page itself.
    func values(in frame: Frame) -> [String: (any Sendable)?]
}

extension Page {
    package var script: PageScript? { nil }
    package var leadsTo: String? { nil }
    package var postsToClient: Bool { false }
    package func values(in frame: Frame) -> [String: (any Sendable)?] { [:] }
}

/// A script that a page loads.
package enum PageScript: Sendable, Hashable {
    /// Copies texts, and sends requests to the server while the user types.
    case interactive
    /// Submits the form of a page that continues without the user.
    case proceed
}

import CounterfoilProtocol
import CounterfoilServer
import HTTPTypes

/// The security header fields of every response.
///
/// Pages cannot be framed (RFC 9700 §4.16), load resources from this server only, and send no referrer (RFC 9700
/// §4.2.4). Only pages that use a script allow scripts, and only scripts from this server.
struct ResponseFields: Sendable {
    private let fields: HTTPFields
    /// The value of `max-age` in `Strict-Transport-Security`.
    let strictTransportAge: Int

    private static let openerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")

    /// The properties of a response that determine its content security policy.
    struct Content: Hashable {
        /// The script that the page loads, if any.
        let script: PageScript?
        /// The URL of a client to which the form of the page posts; nil if it posts to this server.
        let postsTo: String?

        /// The properties of a response that is not a page.
        static let plain = Content(script: nil, postsTo: nil)

        private init(script: PageScript?, postsTo: String?) {
            self.script = script
            self.postsTo = postsTo
        }

        init(_ page: any Page) {
            script = page.script
            postsTo = page.postsToClient ? page.leadsTo : nil
        }
    }

    private static let plainPolicy = joined("'self'", [])
    private static let interactivePolicy = joined("'self'", ["script-src 'self'", "connect-src 'self'"])
    private static let scriptPolicy = joined("'self'", ["script-src 'self'"])

    private static func joined(_ formAction: String, _ scripts: [String]) -> String {
        let policy = [
            "default-src 'none'", "style-src 'self'", "img-src 'self' data:", "form-action \(formAction)",
            "base-uri 'none'", "frame-ancestors 'none'",
        ]
        return (policy + scripts).joined(separator: "; ")
    }

    /// Returns the content security policy of a response.
    static func policy(of content: Content) -> String {
        guard let address = content.postsTo else {
            return switch content.script {
            case nil: plainPolicy
            case .interactive: interactivePolicy
            case .passkeys, .proceed: scriptPolicy
            }
        }
        return joined(formAction(to: address), content.script == nil ? [] : ["script-src 'self'"])
    }

    /// Returns the `form-action` source for a form that posts to a client.
    ///
    /// It also allows every https URL, because browsers apply `form-action` to redirects too, and the client can
    /// respond with a redirect.
    private static func formAction(to address: String) -> String {
        let uri = try? AbsoluteURI(parsing: address)
        let target = uri.flatMap { uri in
            uri.scheme.lowercased() == "http"
                ? uri.host.map { "http://\($0)" + (uri.port.map { ":\($0)" } ?? "") + " https:" } : "https:"
        }
        return target ?? "'none'"
    }

    init(_ settings: ServerSettings) {
        var fields = HTTPFields()
        fields[.xContentTypeOptions] = "nosniff"
        let others = [
            ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
            ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
        ]
        for (name, value) in others {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        if let openerPolicy = Self.openerPolicy { fields[openerPolicy] = "same-origin" }
        strictTransportAge = settings.strictTransportAge
        if settings.issuer.isSecure { fields[.strictTransportSecurity] = "max-age=\(strictTransportAge)" }
        self.fields = fields
    }

    /// Adds the fields to a response.
    ///
    /// Fields that the response already has take precedence.
    ///
    /// - Parameters:
    ///   - response: The fields of the response.
    ///   - content: The properties of the response that determine its content security policy.
    ///   - keepsOpener: Whether the app that opened the window keeps its reference to the window. A browser severs it
    ///     at the first response without this, redirects included, and a popup then cannot report to its app.
    func add(to response: inout HTTPFields, for content: Content = .plain, keepsOpener: Bool = false) {
        // There is room for five more fields: the content security policy, the length, the date, the identifier of the
        // request, and perhaps `Connection`.
        response.reserveCapacity(response.count + fields.count + 5)
        if !response.contains(.contentSecurityPolicy) {
            response[.contentSecurityPolicy] = Self.policy(of: content)
        }
        if keepsOpener, let openerPolicy = Self.openerPolicy { response[openerPolicy] = "unsafe-none" }
        for field in fields where !response.contains(field.name) { response.append(field) }
    }
}

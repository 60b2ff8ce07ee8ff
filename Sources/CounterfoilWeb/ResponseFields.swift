import CounterfoilProtocol
import CounterfoilServer
import HTTPTypes

/// The header fields that every answer carries.
///
/// Nothing may frame a page (RFC 9700 §4.16), nothing foreign may load, no address leaks as a referrer (RFC 9700 §4.2.4).
/// A script runs only on a page that loads one of ours.
struct ResponseFields: Sendable {
    private let fields: HTTPFields

    /// What an answer carries with it.
    struct Content: Hashable {
        /// The script that the page loads.
        let script: PageScript?
        /// The address of a client that the form of the page goes to; nil for a form that goes to this server.
        let postsTo: String?

        /// An answer that is no page.
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
    private static let goOnPolicy = joined("'self'", ["script-src 'self'"])

    private static func joined(_ formAction: String, _ scripts: [String]) -> String {
        let policy = [
            "default-src 'none'", "style-src 'self'", "img-src 'self' data:", "form-action \(formAction)",
            "base-uri 'none'", "frame-ancestors 'none'",
        ]
        return (policy + scripts).joined(separator: "; ")
    }

    /// The policy of an answer.
    static func policy(of content: Content) -> String {
        guard let address = content.postsTo else {
            return switch content.script {
            case nil: plainPolicy
            case .interactive: interactivePolicy
            case .goOn: goOnPolicy
            }
        }
        return joined(formAction(to: address), content.script == nil ? [] : ["script-src 'self'"])
    }

    /// The form may go to the application, and where the application sends it on: browsers apply the rule to the whole way.
    private static func formAction(to address: String) -> String {
        let uri = try? AbsoluteURI(parsing: address)
        let target = uri.flatMap { uri in
            uri.scheme.lowercased() == "http"
                ? uri.host.map { "http://\($0)" + (uri.port.map { ":\($0)" } ?? "") + " https:" } : "https:"
        }
        return target ?? "'none'"
    }

    init(issuer: Issuer) {
        var fields = HTTPFields()
        fields[.xContentTypeOptions] = "nosniff"
        let others = [
            ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
        ]
        for (name, value) in others {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        if issuer.isSecure { fields[.strictTransportSecurity] = "max-age=63072000" }
        self.fields = fields
    }

    /// Adds the fields to those of an answer, which come first.
    func add(to response: inout HTTPFields, for content: Content = .plain) {
        // Besides these: the policy, the length, the date, and perhaps the end of the connection.
        response.reserveCapacity(response.count + fields.count + 4)
        if !response.contains(.contentSecurityPolicy) {
            response[.contentSecurityPolicy] = Self.policy(of: content)
        }
        for field in fields where !response.contains(field.name) { response.append(field) }
    }
}

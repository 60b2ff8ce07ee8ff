import CounterfoilProtocol
import HTTPTypes

/// The header fields that every answer carries.
///
/// Nothing may frame a page (RFC 9700 §4.16), nothing foreign may load, no address leaks as a referrer (RFC 9700 §4.2.4).
/// A script runs only on the pages of the console, and only ours.
struct ResponseFields: Sendable {
    private let fields: HTTPFields

    /// What an answer carries with it.
    enum Content {
        /// Nothing that runs.
        case plain
        /// A page of the console, with its script.
        case console
    }

    private static let policy = [
        "default-src 'none'", "style-src 'self'", "img-src 'self' data:", "form-action 'self'", "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
    private static let plainPolicy = policy.joined(separator: "; ")
    private static let consolePolicy = (policy + ["script-src 'self'", "connect-src 'self'"]).joined(separator: "; ")

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
        if response[.contentSecurityPolicy] == nil {
            response[.contentSecurityPolicy] = content == .console ? Self.consolePolicy : Self.plainPolicy
        }
        for field in fields where response[field.name] == nil { response.append(field) }
    }
}

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
        /// A page whose form goes to the address of an application.
        case posting(to: String)
    }

    private static let policy = [
        "default-src 'none'", "style-src 'self'", "img-src 'self' data:", "form-action 'self'", "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
    private static let plainPolicy = policy.joined(separator: "; ")
    private static let consolePolicy = (policy + ["script-src 'self'", "connect-src 'self'"]).joined(separator: "; ")

    /// The form may go to the application, and where the application sends it on: browsers apply the rule to the whole way.
    private static func postingPolicy(to address: String) -> String {
        let uri = try? AbsoluteURI(parsing: address)
        let target = uri.flatMap { uri in
            uri.scheme.lowercased() == "http"
                ? uri.host.map { "http://\($0)" + (uri.port.map { ":\($0)" } ?? "") + " https:" } : "https:"
        }
        return
            (policy.filter { !$0.hasPrefix("form-action") } + [
                "form-action \(target ?? "'none'")", "script-src 'self'",
            ])
            .joined(separator: "; ")
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
            response[.contentSecurityPolicy] =
                switch content {
                case .plain: Self.plainPolicy
                case .console: Self.consolePolicy
                case .posting(let address): Self.postingPolicy(to: address)
                }
        }
        for field in fields where !response.contains(field.name) { response.append(field) }
    }
}

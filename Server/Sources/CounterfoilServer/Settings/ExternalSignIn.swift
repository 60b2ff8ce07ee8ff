public import CounterfoilProtocol
public import CounterfoilTokens

/// The page of the owner that signs users in, in place of the sign-in page for clients.
public struct ExternalSignIn: Sendable, Hashable {
    /// The users whom the page can sign in.
    public enum Users: String, Sendable, Hashable, CaseIterable {
        /// Every user; the first sign-in creates an account, which is the default.
        case create
        /// Users with an account that has the identity already.
        case known
    }

    /// The https URL of the page, or an http URL on a loopback host; it has no fragment.
    public var page: AbsoluteURI
    /// The public keys that verify the responses of the page.
    public var keys: JSONWebKeySet
    /// The users whom the page can sign in.
    public var users: Users
    /// The name of the page on buttons; nil for its host.
    public var name: DisplayName?

    /// Creates a setting; by default, the first sign-in of a user creates an account.
    public init(page: AbsoluteURI, keys: JSONWebKeySet, users: Users = .create, name: DisplayName? = nil) {
        self.page = page
        self.keys = keys
        self.users = users
        self.name = name
    }

    /// The `iss` of the responses, and of the identities of users: the origin of the page (RFC 6454 §6.2).
    package var issuer: String {
        let scheme = page.scheme.lowercased()
        let port = page.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" }
        return "\(scheme)://\((page.host ?? "").lowercased())\(port ?? "")"
    }

    /// The name of the page for users.
    package var label: DisplayName { name ?? DisplayName(page.host ?? "") }
}

extension ServerSettings {
    /// The issuers whose identities sign users in, and are therefore ways in (``CounterfoilStore/WaysIn``).
    package var identityIssuers: Set<String> { externalSignIn.map { [$0.issuer] } ?? [] }
}

package import Foundation
package import Logging

/// The directory of an authority (RFC 8555 §7.1.1).
package struct AuthorityDirectory: Sendable, Hashable {
    package let newNonce: String
    package let newAccount: String
    package let newOrder: String
    /// The URL for renewal information (RFC 9773 §4.1); nil if the authority has none.
    package let renewalInfo: String?
    /// The URL of the terms of service; nil if there are none.
    package let termsOfService: String?
    /// Whether an account must be bound to one that the authority knows already (RFC 8555 §7.3.4).
    package let requiresExternalAccount: Bool

    /// Parses a directory; nil if a URL is missing, or if one is not as protected as that of the directory.
    package init?(_ json: [UInt8], from url: AuthorityURL) {
        guard let members = JSONMembers(json), let newNonce = members.text("newNonce"),
            let newAccount = members.text("newAccount"), let newOrder = members.text("newOrder"),
            [newNonce, newAccount, newOrder].allSatisfy(url.allows)
        else { return nil }
        self.newNonce = newNonce
        self.newAccount = newAccount
        self.newOrder = newOrder
        renewalInfo = members.text("renewalInfo").flatMap { url.allows($0) ? $0 : nil }
        let meta = members.object("meta")
        termsOfService = meta?.text("termsOfService")
        requiresExternalAccount = meta?.isTrue("externalAccountRequired") ?? false
    }
}

/// An account (RFC 8555 §7.1.2).
struct AccountDocument {
    /// The URLs of the contacts; empty if the authority does not show them.
    let contacts: [String]

    init(_ json: [UInt8]) { contacts = JSONMembers(json)?.texts("contact") ?? [] }
}

/// The URL of the directory of an authority.
package struct AuthorityURL: Sendable, Hashable, CustomStringConvertible {
    /// The directory of Let's Encrypt.
    package static let standard = "https://acme-v02.api.letsencrypt.org/directory"

    /// The URL as text.
    package let description: String
    private let isSecure: Bool

    /// Parses a URL; nil unless it is https, or http on this machine for tests.
    package init?(_ text: String) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.password == nil, parts.fragment == nil
        else { return nil }
        switch parts.scheme {
        case "https": isSecure = true
        case "http" where ["127.0.0.1", "[::1]", "localhost"].contains(host): isSecure = false
        default: return nil
        }
        description = text
    }

    /// Returns true if requests may go to a URL that the authority has named.
    func allows(_ url: String) -> Bool {
        guard let other = AuthorityURL(url) else { return false }
        return other.isSecure || !isSecure
    }
}

/// An order (RFC 8555 §7.1.3).
package struct AuthorityOrder: Sendable, Hashable {
    package enum Status: String, Sendable { case pending, ready, processing, valid, invalid }

    package let status: Status
    package let authorizations: [String]
    package let finalize: String
    /// The URL of the certificate; nil until it is issued.
    package let certificate: String?
    package let problem: AuthorityProblem?

    /// The maximum number of authorizations of an order; there is one for each host.
    private static let limit = 16

    package init?(_ json: [UInt8], from url: AuthorityURL) {
        guard let members = JSONMembers(json), let status = members.text("status").flatMap(Status.init),
            let finalize = members.text("finalize"), url.allows(finalize),
            let authorizations = members.texts("authorizations"), authorizations.count <= Self.limit,
            authorizations.allSatisfy(url.allows)
        else { return nil }
        self.status = status
        self.authorizations = authorizations
        self.finalize = finalize
        certificate = members.text("certificate").flatMap { url.allows($0) ? $0 : nil }
        problem = members.object("error").map { AuthorityProblem($0) }
    }
}

/// An authorization, which shows that the account controls a host (RFC 8555 §7.1.4).
package struct HostAuthorization: Sendable, Hashable {
    package enum Status: String, Sendable { case pending, valid, invalid, deactivated, expired, revoked }

    /// A challenge (RFC 8555 §8).
    package struct Challenge: Sendable, Hashable {
        package let type: String
        package let url: String
        package let token: String
        /// Whether the authority waits for a request to validate, and does not try by itself (RFC 8555 §7.1.6).
        package let isPending: Bool
        /// The reason why the last validation has failed.
        package let problem: AuthorityProblem?
    }

    package let status: Status
    package let host: String
    package let challenges: [Challenge]

    package init?(_ json: [UInt8], from url: AuthorityURL) {
        guard let members = JSONMembers(json), let status = members.text("status").flatMap(Status.init),
            let identifier = members.object("identifier"), identifier.text("type") == "dns",
            let host = identifier.text("value"), let list = members.objects("challenges")
        else { return nil }
        self.status = status
        self.host = host.lowercased()
        challenges = list.compactMap { members in
            guard let type = members.text("type"), let address = members.text("url"), url.allows(address),
                let token = members.text("token"), Self.isToken(token)
            else { return nil }
            return Challenge(
                type: type, url: address, token: token, isPending: members.text("status") == "pending",
                problem: members.object("error").map { AuthorityProblem($0) })
        }
    }

    /// Returns true if a text is a token of at least 128 bits in base64url (RFC 8555 §8.1).
    private static func isToken(_ text: String) -> Bool {
        (22...256).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

/// The time at which an authority wants a certificate to be renewed (RFC 9773 §4.2).
package struct RenewalInformation: Sendable, Hashable {
    package let start: Date
    package let end: Date
    /// The page that explains the time; nil if there is none.
    package let explanation: String?

    package init?(_ json: [UInt8]) {
        guard let members = JSONMembers(json), let window = members.object("suggestedWindow"),
            let start = window.text("start").flatMap(Self.date), let end = window.text("end").flatMap(Self.date),
            start < end
        else { return nil }
        self.start = start
        self.end = end
        explanation = members.text("explanationURL").map { LogText.of($0) }
    }

    /// The fields of a log event.
    package var metadata: Logger.Metadata {
        [
            "from": "\(start.ISO8601Format())", "until": "\(end.ISO8601Format())",
            "explanation": "\(explanation ?? "none")",
        ]
    }

    private static func date(_ text: String) -> Date? {
        let formatter = ISO8601DateFormatter()
        if let date = formatter.date(from: text) { return date }
        formatter.formatOptions.insert(.withFractionalSeconds)
        return formatter.date(from: text)
    }
}

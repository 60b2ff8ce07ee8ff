public import CounterfoilProtocol
public import Foundation

/// What a server gave an application that registered itself there; it is of use at that server and nowhere else.
///
/// RFC 7591 §3.2.1. A ``ClientRegistrationStore`` keeps it under the issuer.
public struct ClientRegistration: Sendable, Hashable {
    /// The server, exactly as it names itself.
    public let issuer: Issuer
    /// `client_id`.
    public let clientID: ClientIdentifier
    /// How the client proves itself there, with `client_secret` where it was given one.
    public let authentication: ClientAuthentication
    /// `client_secret_expires_at`; nil when there is no secret, or one that stays.
    public let secretExpires: Date?
    /// `redirect_uris`, as they were asked for.
    public let redirectURIs: [String]
    /// `grant_types`, as they were asked for.
    public let grantTypes: [String]
    /// `scope`, as it was asked for; empty when none was.
    public let scope: Scope
    /// Since when, by this device's clock.
    public let since: Date

    /// How long before its end a secret is taken for over: a sign-in takes its time.
    private static let earlyEnd: TimeInterval = 600

    /// Whether everything that an application wants now is registered already, and good for long enough.
    func fits(_ wish: RegistrationWish, at now: Date) -> Bool {
        guard secretExpires.map({ $0.addingTimeInterval(-Self.earlyEnd) > now }) ?? true else { return false }
        guard authentication.key == wish.key else { return false }
        return Set(redirectURIs).isSuperset(of: wish.redirectURIs) && Set(grantTypes).isSuperset(of: wish.grantTypes)
            && wish.scope.isSubset(of: scope)
    }

    /// Why the answer to a registration is not one.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is not the JSON of RFC 7591 §3.2.1.
        case unreadable
        /// A refusal that is not the JSON of RFC 7591 §3.2.2; the value is the status.
        case unreadableRefusal(Int)
        /// There is no `client_id`, or one that cannot be.
        case noClientID
        /// A secret that cannot be one, or the time of its end.
        case badSecret
        /// The client is to prove itself in a way that was not asked for and that it cannot.
        case otherAuthentication
        /// Other redirect URIs were registered than were asked for: an answer could go where nobody asked.
        case otherRedirectURIs

        /// What happened, safe to show.
        public var description: String {
            switch self {
            case .unreadable: "the answer to the registration is not the JSON of an OAuth server"
            case .unreadableRefusal(let status):
                "the server refused the registration (status \(status)) without an OAuth error"
            case .noClientID: "the answer to the registration holds no client id that can be used"
            case .badSecret: "the answer to the registration holds a secret, or an end of it, that cannot be used"
            case .otherAuthentication:
                "the server registered this application as one that proves itself in another way than it asked for"
            case .otherRedirectURIs: "the server registered other redirect URIs than it was asked for"
            }
        }
    }
}

/// The form in which a store keeps it; it may hold a secret in clear and goes only where nobody else can read it.
extension ClientRegistration: Codable {
    private enum CodingKeys: String, CodingKey {
        case issuer
        case clientID = "client_id"
        case authentication
        case secretExpires = "client_secret_expires_at"
        case redirectURIs = "redirect_uris"
        case grantTypes = "grant_types"
        case scope
        case since
    }

    /// Reads the bytes that a store kept at a place; what cannot be read is nothing, because it can be had anew.
    init?(stored bytes: Data) {
        guard let registration = try? JSONDecoder().decode(ClientRegistration.self, from: bytes) else { return nil }
        self = registration
    }

    /// The bytes for a store to keep at a place.
    func stored(at place: String) throws(TokenStoreError) -> Data {
        guard let bytes = try? JSONEncoder().encode(self) else {
            throw .failed(path: place, reason: "the registration cannot be written down")
        }
        return bytes
    }
}

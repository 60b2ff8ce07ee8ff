public import CounterfoilProtocol
public import Foundation

/// A pushed authorization request (RFC 9126 §2), which a browser opens with its `request_uri`.
///
/// The request stays until its authorization completes: when a code is issued, or the client gets an error.
public struct PushedRequest: Sendable, Hashable {
    /// The digest of the `request_uri`.
    public let digest: ArtefactDigest
    /// The client that pushed the request, and for which alone a browser can open it.
    public let clientID: ClientIdentifier
    /// The parameters of the request as a query, without the credentials of the client.
    public let parameters: String
    /// The source from which the client pushed the request, for the limits; nil if all requests have the same one.
    public let source: String?
    /// The time when the client pushed the request.
    public let pushedAt: Date
    /// The time from which the request cannot be used; its first opening extends it.
    public var expiresAt: Date
    /// The time when a browser first opened the request; nil if none has.
    public var openedAt: Date?

    /// Creates a record; by default, it is bound to no key and was not opened.
    public init(
        digest: ArtefactDigest, clientID: ClientIdentifier, parameters: String,
        source: String?, pushedAt: Date, expiresAt: Date, openedAt: Date? = nil
    ) {
        self.digest = digest
        self.clientID = clientID
        self.parameters = parameters
        self.source = source
        self.pushedAt = pushedAt
        self.expiresAt = expiresAt
        self.openedAt = openedAt
    }
}

/// The maximum numbers of stored requests that have not expired.
///
/// All clients with documents count as one client, because everyone can publish any number of documents.
public struct PushedRequestLimits: Sendable, Hashable {
    /// The maximum number of requests of one client.
    public let ofClient: Int
    /// The maximum number of requests of one client from one source; nil if there is none.
    ///
    /// Twice and four times as many can come from an IPv6 network of 56 and of 48 bits. When half of the requests of
    /// the client are taken, a source with a tenth of its own limit gets no more.
    public let fromSource: Int?

    /// Creates limits for one client.
    public init(ofClient: Int, fromSource: Int?) {
        self.ofClient = ofClient
        self.fromSource = fromSource
    }

    /// The limit that all sources of a client share.
    package var shared: SharedLimit { SharedLimit(perSource: fromSource, total: ofClient) }
}

/// The outcome of ``PushedRequestStore/addPushedRequest(_:within:)``.
public enum AddPushedRequestOutcome: Sendable, Hashable {
    /// The request was stored.
    case added
    /// The client has too many requests that have not expired; nothing was written.
    ///
    /// The associated value is the time at which the first of them expires.
    case tooMany(until: Date)
    /// The client does not exist, and its identifier is not the URL of a client document; nothing was written.
    case clientDeleted
}

/// The pushed authorization requests.
///
/// ``GrantStore/recordConsent(_:)`` removes the request for which it stores a code.
public protocol PushedRequestStore: Sendable {
    /// Stores a request, unless the client has reached a limit.
    ///
    /// Requests that expire at or before ``PushedRequest/pushedAt`` do not count. The limit for a source applies if
    /// ``PushedRequest/source`` is not nil. The check and the insertion are one transaction.
    func addPushedRequest(
        _ request: PushedRequest, within limits: PushedRequestLimits
    ) async throws(StoreFault) -> AddPushedRequestOutcome
    /// Opens a request of a client, and returns it; nil if the client has no such request, or if it has expired.
    ///
    /// The first opening sets ``PushedRequest/openedAt``, and extends ``PushedRequest/expiresAt`` to `later` if that is
    /// later. Every other opening only reads, so that a page can be loaded again without a write.
    func openPushedRequest(
        _ digest: ArtefactDigest, of client: ClientIdentifier, at now: Date, until later: Date
    ) async throws(StoreFault) -> PushedRequest?
    /// Removes a request, which can then not be used again.
    ///
    /// - Returns: True for the call that removes the request; false if there is none with this digest.
    @discardableResult
    func removePushedRequest(_ digest: ArtefactDigest) async throws(StoreFault) -> Bool
}

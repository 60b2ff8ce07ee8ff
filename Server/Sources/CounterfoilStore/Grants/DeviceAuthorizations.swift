@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// A device authorization that no user has approved yet (RFC 8628 §3.2).
///
/// The approval replaces the record by a ``CodeRecord`` with the same digest. Only `interval`, ``lastPolledAt`` and
/// ``deniedAt`` change.
public struct DeviceAuthorization: Sendable, Hashable {
    /// The minimum time between two polls in seconds, until the client polls too early (RFC 8628 §3.2).
    public static let interval = 5
    /// The number of seconds that each early poll adds to the interval (RFC 8628 §3.5).
    public static let slowDown = 5
    /// The maximum interval, so that a client that polls in a loop does not lock itself out for longer.
    public static let longestInterval = 300
    /// The number of seconds by which a poll may be early, because the time between two requests varies on their way.
    public static let tolerance: TimeInterval = 0.5
    /// The time for which a record is kept after its expiry in seconds, so that a late poll gets `expired_token`.
    public static let retention: TimeInterval = 600

    /// The digest of the `device_code`.
    public let digest: ArtefactDigest
    /// The digest of the `user_code`.
    public let userCode: ArtefactDigest
    /// The client that requested the authorization; deleting the client deletes the record.
    public let clientID: ClientIdentifier
    /// The scope that the client requested, or the default scope of the client.
    public let scope: Scope
    /// The APIs that the request named (RFC 8707 §2); empty if it named none.
    public let resources: [Resource]
    /// The S256 challenge that the `code_verifier` must match; nil if the request had no `code_challenge`.
    public let codeChallenge: CodeChallenge?
    /// The time of the request.
    public let requestedAt: Date
    /// The time from which neither code can be used.
    public let expiresAt: Date
    /// The device that sent the request.
    public let device: GrantDevice
    /// The minimum time between two polls in seconds; each early poll increases it (RFC 8628 §3.5).
    public var interval: Int
    /// The time of the last poll; nil if the client has not polled yet.
    public var lastPolledAt: Date?
    /// The time when a user denied the request; nil if no user has answered it.
    public var deniedAt: Date?

    /// Creates a record with at most as much of the properties of the device as ``GrantDevice`` keeps.
    public init(
        digest: ArtefactDigest, userCode: ArtefactDigest, clientID: ClientIdentifier, scope: Scope,
        resources: [Resource] = [], codeChallenge: CodeChallenge?, requestedAt: Date, expiresAt: Date,
        source: String = "", userAgent: String = "", deviceName: String? = nil,
        interval: Int = DeviceAuthorization.interval,
        lastPolledAt: Date? = nil, deniedAt: Date? = nil
    ) {
        self.digest = digest
        self.userCode = userCode
        self.clientID = clientID
        self.scope = scope
        self.resources = resources
        self.codeChallenge = codeChallenge
        self.requestedAt = requestedAt
        self.expiresAt = expiresAt
        device = GrantDevice(name: deviceName, userAgent: userAgent, source: source, isSeparate: true)
        self.interval = interval
        self.lastPolledAt = lastPolledAt
        self.deniedAt = deniedAt
    }

    /// The source IP address of the request, at most 64 bytes.
    public var source: String { device.source }
    /// The `User-Agent` of the request, at most 256 printable ASCII characters; may be empty.
    public var userAgent: String { device.userAgent }

    /// Returns true if a user can still answer the request.
    public func isPending(at time: Date) -> Bool { deniedAt == nil && time < expiresAt }

    /// Records a poll; returns true if it came too early, which increases `interval` for all further polls.
    ///
    /// A store calls this method in the transaction of ``DeviceAuthorizationStore/pollDevice(_:by:at:)``.
    public mutating func poll(at time: Date) -> Bool {
        let isTooEarly =
            lastPolledAt.map { time.timeIntervalSince($0) < TimeInterval(interval) - Self.tolerance } ?? false
        // RFC 8628 §3.5: the interval increases by 5 seconds for this and all subsequent requests.
        if isTooEarly { interval = min(interval + Self.slowDown, Self.longestInterval) }
        lastPolledAt = time
        return isTooEarly
    }
}

/// The limits on device authorizations that have not expired.
public struct DeviceAuthorizationLimits: Sendable, Hashable {
    /// The maximum number from one source; nil if all requests have the same source, for example that of a proxy.
    ///
    /// Twice and four times as many can come from an IPv6 network of 56 and of 48 bits. When half of the total is
    /// taken, a source with a tenth of its own limit gets no more.
    public let perSource: Int?
    /// The maximum number of all sources together.
    public let total: Int

    /// Creates limits.
    public init(perSource: Int?, total: Int) {
        self.perSource = perSource
        self.total = total
    }

    /// The limit that all sources share.
    package var shared: SharedLimit { SharedLimit(perSource: perSource, total: total) }
}

/// The outcome of ``DeviceAuthorizationStore/addDeviceAuthorization(_:within:)``.
public enum AddDeviceAuthorizationOutcome: Sendable, Hashable {
    /// The device authorization was stored.
    case added
    /// Another device authorization has the same user code; nothing was written, and the caller tries another code.
    case userCodeTaken
    /// A limit of ``DeviceAuthorizationLimits`` is reached; nothing was written.
    case tooMany
    /// The client does not exist, and its identifier is not the URL of a client document; nothing was written.
    case clientDeleted
}

/// The state of a device authorization at a poll, read and recorded in one transaction.
public enum DevicePoll: Sendable, Hashable {
    /// There is no such `device_code`.
    case unknown
    /// The user has not approved the request; it may be denied or expired.
    ///
    /// `isTooEarly` is true if the poll came before the end of the interval, which the store has then increased.
    case unanswered(DeviceAuthorization, isTooEarly: Bool)
    /// The user has approved the request.
    ///
    /// The code may be used or expired. `session` is the session in which the user approved; nil if it has ended.
    case approved(CodeFacts, session: Session?)
}

/// The outcome of ``DeviceAuthorizationStore/denyDevice(_:at:recording:)``.
public enum DenyDeviceOutcome: Sendable, Hashable {
    /// The request is denied from now on.
    case denied
    /// The request was answered before, has expired or does not exist; nothing was written.
    case notPending
}

/// The device authorizations that wait for the answer of a user (RFC 8628).
///
/// ``GrantStore/recordConsent(_:)`` approves one: a code without a redirect URI is a `device_code`. Of an approval and
/// a denial at the same time, exactly one succeeds.
public protocol DeviceAuthorizationStore: Sendable {
    /// Stores a new device authorization, unless a limit is reached or its user code is taken.
    ///
    /// The store counts the device authorizations that expire after ``DeviceAuthorization/requestedAt`` of the new one.
    func addDeviceAuthorization(
        _ authorization: DeviceAuthorization, within limits: DeviceAuthorizationLimits
    ) async throws(StoreFault) -> AddDeviceAuthorizationOutcome
    /// Reads the device authorization with a user code; nil if it is unknown, answered or expired.
    func deviceAuthorization(
        userCode: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> DeviceAuthorization?
    /// Reads the state of a device authorization for a poll of a client.
    ///
    /// If the request is pending and belongs to the client, the store records the poll in the same transaction
    /// (``DeviceAuthorization/poll(at:)``). The poll of another client changes nothing.
    func pollDevice(
        _ digest: ArtefactDigest, by client: ClientIdentifier, at time: Date
    ) async throws(StoreFault) -> DevicePoll
    /// Denies a pending device authorization, for the user who saw its user code.
    func denyDevice(
        _ digest: ArtefactDigest, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> DenyDeviceOutcome
}

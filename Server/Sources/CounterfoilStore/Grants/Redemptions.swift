public import CounterfoilProtocol

/// The outcome of ``GrantStore/consumeCode(_:beginning:givingAccessUntil:attempt:at:)``.
public enum ConsumeCodeOutcome: Sendable, Hashable {
    /// This attempt redeemed the code, in this call or in an earlier one.
    case consumed
    /// Another attempt redeemed the code before; nothing was written.
    case alreadyUsed
    /// The code is unknown or was invalidated, its grant is revoked, or its user is disabled; nothing was written.
    case gone
}

/// The outcome of ``GrantStore/contestRedemption(_:at:)``.
public enum ContestRedemptionOutcome: Sendable, Hashable {
    /// The tokens of the redemption were sent, so the second redemption is a replay.
    case answered
    /// No store has recorded yet whether the tokens of the redemption were sent.
    ///
    /// The store remembers that the redemption is contested.
    case undecided
    /// The code is unknown or not redeemed; nothing was written.
    case notRedeemed
}

/// The end of a redemption: whether its tokens were sent.
public struct RedemptionSettlement: Sendable, Hashable {
    /// The digest of the code.
    public let code: ArtefactDigest
    /// The attempt that redeemed the code.
    public let attempt: CommitAttempt
    /// True if the tokens were sent to the client; false if it got an error instead.
    ///
    /// Tokens count as sent even if the connection breaks before the client has read them.
    public let isAnswered: Bool

    /// Creates a settlement of a redemption.
    public init(code: ArtefactDigest, attempt: CommitAttempt, isAnswered: Bool) {
        self.code = code
        self.attempt = attempt
        self.isAnswered = isAnswered
    }
}

/// A grant that the store has revoked because its code was redeemed a second time.
public struct RevokedGrant: Sendable, Hashable {
    /// The identifier of the grant.
    public let id: GrantIdentifier
    /// The user who gave the permission.
    public let userID: UserIdentifier
    /// The client that got the permission.
    public let clientID: ClientIdentifier

    /// Creates a record of a revocation.
    public init(id: GrantIdentifier, userID: UserIdentifier, clientID: ClientIdentifier) {
        self.id = id
        self.userID = userID
        self.clientID = clientID
    }
}

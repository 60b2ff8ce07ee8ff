/// The outcome of a commit that takes the events that describe it.
///
/// A store appends the events in the transaction of the commit, and only if ``isCommitted`` is true.
public protocol CommitOutcome: Sendable {
    /// Whether the commit has changed what its events describe.
    var isCommitted: Bool { get }
}

extension Bool: CommitOutcome {
    /// The value itself: a commit that returns false has changed nothing.
    public var isCommitted: Bool { self }
}

extension AddClientOutcome: CommitOutcome {
    /// Whether the client was added.
    public var isCommitted: Bool { self == .added }
}

extension AddClientSecretOutcome: CommitOutcome {
    /// Whether the secret was added.
    public var isCommitted: Bool { self == .added }
}

extension AddUserOutcome: CommitOutcome {
    /// Whether the user was added.
    public var isCommitted: Bool { self == .added }
}

extension AddUserLinkOutcome: CommitOutcome {
    /// Whether the link was stored.
    public var isCommitted: Bool { self == .added }
}

extension AddInvitationOutcome: CommitOutcome {
    /// Whether the invitation was added.
    public var isCommitted: Bool { self == .added }
}

extension BeginSignUpOutcome: CommitOutcome {
    /// Whether the mail was queued.
    public var isCommitted: Bool { self == .queued }
}

extension SignUpOutcome: CommitOutcome {
    /// Whether the account was created.
    public var isCommitted: Bool { self == .added }
}

extension AddPasskeyOutcome: CommitOutcome {
    /// Whether the passkey was added.
    public var isCommitted: Bool { self == .added }
}

extension AddIdentityOutcome: CommitOutcome {
    /// Whether the identity was added.
    public var isCommitted: Bool { self == .added }
}

extension AddIdentifiedUserOutcome: CommitOutcome {
    /// Whether the account was created.
    public var isCommitted: Bool { self == .added }
}

extension AddSecondFactorOutcome: CommitOutcome {
    /// Whether the second factor was added.
    public var isCommitted: Bool { self == .added }
}

extension ChangeSecondFactorOutcome: CommitOutcome {
    /// Whether the change was made.
    public var isCommitted: Bool { self == .changed }
}

extension AddResourceOutcome: CommitOutcome {
    /// Whether the API was added.
    public var isCommitted: Bool { self == .added }
}

extension AddScopeOutcome: CommitOutcome {
    /// Whether the scope was added.
    public var isCommitted: Bool { self == .added }
}

extension AddSigningKeyOutcome: CommitOutcome {
    /// Whether the key was added.
    public var isCommitted: Bool { self == .added }
}

extension BeginEmailVerificationOutcome: CommitOutcome {
    /// Whether the mail was queued.
    public var isCommitted: Bool { self == .queued }
}

extension BeginSessionOutcome: CommitOutcome {
    /// Whether the session was begun.
    public var isCommitted: Bool {
        if case .begun = self { true } else { false }
    }
}

extension ChangePasswordOutcome: CommitOutcome {
    /// Whether the password was changed.
    public var isCommitted: Bool { self == .changed }
}

extension ClientDecisionOutcome: CommitOutcome {
    /// Whether the decision was stored.
    public var isCommitted: Bool { self == .decided }
}

extension ChangeStandingOutcome: CommitOutcome {
    /// Whether the account was changed.
    public var isCommitted: Bool { self == .changed }
}

extension DenyDeviceOutcome: CommitOutcome {
    /// Whether the request of the device was denied.
    public var isCommitted: Bool { self == .denied }
}

extension NarrowConsentOutcome: CommitOutcome {
    /// Whether the consent was reduced or withdrawn.
    public var isCommitted: Bool { self == .narrowed }
}

extension ResetPasswordOutcome: CommitOutcome {
    /// Whether the password was set.
    public var isCommitted: Bool { self == .reset }
}

extension ProvisionUserOutcome: CommitOutcome {
    /// Whether the account was changed.
    public var isCommitted: Bool { self == .updated }
}

extension RefuseHostOutcome: CommitOutcome {
    /// Whether the policy refuses the host by this commit.
    public var isCommitted: Bool { self == .refused }
}

extension RemoveIdentityOutcome: CommitOutcome {
    /// Whether the identity was deleted.
    public var isCommitted: Bool { self == .removed }
}

extension RemovePasskeyOutcome: CommitOutcome {
    /// Whether the passkey was deleted.
    public var isCommitted: Bool { self == .removed }
}

extension RevokeGrantOutcome: CommitOutcome {
    /// Whether the grant was revoked by this commit.
    public var isCommitted: Bool { self == .revoked }
}

extension UpdateBrandingOutcome: CommitOutcome {
    /// Whether the branding was changed.
    public var isCommitted: Bool { self == .updated }
}

extension UpdateClientOutcome: CommitOutcome {
    /// Whether the client was changed.
    public var isCommitted: Bool { self == .updated }
}

extension UpdateUserOutcome: CommitOutcome {
    /// Whether the account was changed.
    public var isCommitted: Bool { self == .updated }
}

extension UpdateResourceOutcome: CommitOutcome {
    /// Whether the API was changed.
    public var isCommitted: Bool { self == .updated }
}

extension UpdateScopeOutcome: CommitOutcome {
    /// Whether the scope was changed.
    public var isCommitted: Bool { self == .updated }
}

extension UpdateUnregisteredClientPolicyOutcome: CommitOutcome {
    /// Whether the policy was changed.
    public var isCommitted: Bool { self == .updated }
}

extension AddWebhookOutcome: CommitOutcome {
    /// Whether the webhook was added.
    public var isCommitted: Bool { self == .added }
}

extension ResendEventOutcome: CommitOutcome {
    /// Whether the event was queued.
    public var isCommitted: Bool { self == .queued }
}

extension UpdateWebhookOutcome: CommitOutcome {
    /// Whether the webhook was changed.
    public var isCommitted: Bool { self == .updated }
}

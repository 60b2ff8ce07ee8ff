extension AuditEvent {
    /// The change that an event records, more exactly than its kind; the raw value is its name in the store.
    ///
    /// The name is that of an event for programs, such as `user.created`, and never changes. An action outside
    /// ``allCases`` is that of an event which a newer version has recorded.
    public struct Action: RawRepresentable, Sendable, Hashable, CaseIterable {
        /// The name of the action, such as `user.created`.
        public let rawValue: String

        /// Creates an action with a name that a store contains.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An account was created.
        public static let userCreated = Action(rawValue: "user.created")
        /// An account was disabled.
        public static let userDisabled = Action(rawValue: "user.disabled")
        /// An account was enabled again.
        public static let userEnabled = Action(rawValue: "user.enabled")
        /// An account was deleted.
        public static let userDeleted = Action(rawValue: "user.deleted")
        /// A user got or lost rights of the administration.
        public static let userRoleChanged = Action(rawValue: "user.role_changed")
        /// The email address of a user was changed, removed or verified.
        public static let userEmailChanged = Action(rawValue: "user.email_changed")
        /// A passkey was added.
        public static let passkeyAdded = Action(rawValue: "user.passkey_added")
        /// A passkey was deleted.
        public static let passkeyRemoved = Action(rawValue: "user.passkey_removed")
        /// A user was offered a passkey after a sign-in.
        public static let passkeyOffered = Action(rawValue: "user.passkey_offered")
        /// A second factor or a security key was set up.
        public static let secondFactorAdded = Action(rawValue: "user.second_factor_added")
        /// A second factor or a security key was removed.
        public static let secondFactorRemoved = Action(rawValue: "user.second_factor_removed")
        /// A link to an account was sent to an email address, or created for its user.
        public static let userLinkCreated = Action(rawValue: "user.link_created")
        /// A person was invited to create an account.
        public static let userInvited = Action(rawValue: "user.invited")
        /// An invitation was withdrawn.
        public static let invitationWithdrawn = Action(rawValue: "user.invitation_withdrawn")
        /// A user accepted the terms.
        public static let termsAccepted = Action(rawValue: "user.terms_accepted")
        /// A client got an authorization code in an existing session, which is a sign-in to the client.
        public static let clientSignedIn = Action(rawValue: "client.signed_in")
        /// An administrator changed the account of another user, which has an event of its own.
        public static let administrationActed = Action(rawValue: "administration.acted")
        /// A client was registered.
        public static let clientCreated = Action(rawValue: "client.created")
        /// A client was deleted.
        public static let clientDeleted = Action(rawValue: "client.deleted")
        /// A client was approved.
        public static let clientApproved = Action(rawValue: "client.approved")
        /// A client was suspended.
        public static let clientSuspended = Action(rawValue: "client.suspended")
        /// The suspension of a client ended.
        public static let clientResumed = Action(rawValue: "client.resumed")
        /// A client secret was created.
        public static let clientSecretCreated = Action(rawValue: "client.secret_created")
        /// A client secret was deleted.
        public static let clientSecretDeleted = Action(rawValue: "client.secret_deleted")
        /// A scope was created.
        public static let scopeCreated = Action(rawValue: "scope.created")
        /// A scope was changed.
        public static let scopeChanged = Action(rawValue: "scope.changed")
        /// A scope was deleted.
        public static let scopeDeleted = Action(rawValue: "scope.deleted")
        /// An API was registered.
        public static let apiCreated = Action(rawValue: "api.created")
        /// An API was changed.
        public static let apiChanged = Action(rawValue: "api.changed")
        /// The secret of an API was replaced.
        public static let apiSecretReplaced = Action(rawValue: "api.secret_replaced")
        /// An API was deleted.
        public static let apiDeleted = Action(rawValue: "api.deleted")
        /// A webhook was created.
        public static let webhookCreated = Action(rawValue: "webhook.created")
        /// A webhook was changed, paused, resumed or moved to another event.
        public static let webhookChanged = Action(rawValue: "webhook.changed")
        /// The server disabled a webhook, because its receiver is gone or has failed for too long.
        public static let webhookDisabled = Action(rawValue: "webhook.disabled")
        /// The secret of a webhook was replaced.
        public static let webhookSecretReplaced = Action(rawValue: "webhook.secret_replaced")
        /// A webhook was deleted.
        public static let webhookDeleted = Action(rawValue: "webhook.deleted")

        /// Every action that this version records.
        public static let allCases: [Action] = [
            .userCreated, .userDisabled, .userEnabled, .userDeleted, .userRoleChanged, .userEmailChanged,
            .passkeyAdded, .passkeyRemoved, .passkeyOffered, .secondFactorAdded, .secondFactorRemoved,
            .userLinkCreated, .userInvited, .invitationWithdrawn, .termsAccepted, .clientSignedIn,
            .administrationActed, .clientCreated, .clientDeleted, .clientApproved, .clientSuspended, .clientResumed,
            .clientSecretCreated, .clientSecretDeleted, .scopeCreated, .scopeChanged, .scopeDeleted, .apiCreated,
            .apiChanged, .apiSecretReplaced, .apiDeleted, .webhookCreated, .webhookChanged, .webhookDisabled,
            .webhookSecretReplaced, .webhookDeleted,
        ]
    }
}

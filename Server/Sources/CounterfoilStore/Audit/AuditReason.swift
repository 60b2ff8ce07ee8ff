@_spi(Counterfoil) public import CounterfoilProtocol

extension AuditEvent {
    /// The reason of a refusal, as a word that programs can compare; the raw value is its name in exports.
    ///
    /// The store keeps it at the beginning of the detail of the event. The error codes of OAuth are reasons, too
    /// (``init(_:)``).
    public struct Reason: RawRepresentable, Sendable, Hashable, CaseIterable {
        /// The name of the reason, such as `wrong_password`.
        public let rawValue: String

        /// Creates a reason with a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates the reason of a refusal with an error code of OAuth (RFC 6749 §5.2).
        public init(_ code: OAuthError.Code) { self.init(rawValue: code.rawValue) }

        /// The password is wrong.
        public static let wrongPassword = Reason(rawValue: "wrong_password")
        /// No account has the typed username or email address, which the log never contains.
        public static let unknownUser = Reason(rawValue: "unknown_user")
        /// The password is right, but the user must choose another one first.
        public static let newPasswordNeeded = Reason(rawValue: "new_password_needed")
        /// The passkey is unknown, or its assertion does not hold (WebAuthn §7.2).
        public static let passkey = Reason(rawValue: "passkey")
        /// The password is right, and the code of the second factor is wrong, was used before, or cannot be verified.
        public static let secondFactor = Reason(rawValue: "second_factor")
        /// The password is right, and the next page asks for a second factor.
        public static let secondFactorAsked = Reason(rawValue: "second_factor_asked")
        /// The password is right, but the account is disabled.
        public static let disabled = Reason(rawValue: "disabled")
        /// The account was disabled or deleted, or its password changed, while the request was processed.
        public static let accountChanged = Reason(rawValue: "account_changed")
        /// The limit of the account, or of the typed name, is reached.
        public static let throttledUser = Reason(rawValue: "throttled_user")
        /// The limit of the source is reached, or that of all sources together.
        public static let throttledSource = Reason(rawValue: "throttled_source")
        /// The limit of the client is reached.
        public static let throttledClient = Reason(rawValue: "throttled_client")
        /// The server has too much to do, such as password checks that wait.
        public static let overloaded = Reason(rawValue: "overloaded")
        /// The browser did not send the cookie that belongs to the form.
        public static let cookie = Reason(rawValue: "cookie")
        /// The ticket of the form is not that of this browser, session or page.
        public static let ticket = Reason(rawValue: "ticket")
        /// The page with the form was open for too long.
        public static let ticketExpired = Reason(rawValue: "ticket_expired")
        /// The form comes from a page of another origin.
        public static let foreignForm = Reason(rawValue: "foreign_form")
        /// The request is too large, too slow or malformed.
        public static let unreadable = Reason(rawValue: "unreadable")
        /// No client has the `client_id`.
        public static let unknownClient = Reason(rawValue: "unknown_client")
        /// The document of the client cannot be used.
        public static let clientDocument = Reason(rawValue: "client_document")
        /// The redirect URI is not registered for the client.
        public static let redirectURI = Reason(rawValue: "redirect_uri")
        /// The pushed authorization request is unknown, expired or completed (RFC 9126 §4).
        public static let pushedRequest = Reason(rawValue: "pushed_request")
        /// The client signs in no users.
        public static let clientType = Reason(rawValue: "client_type")
        /// The client was changed while the page was open.
        public static let clientChanged = Reason(rawValue: "client_changed")
        /// The client was deleted while the page was open.
        public static let clientDeleted = Reason(rawValue: "client_deleted")
        /// An administrator has suspended the client.
        public static let clientSuspended = Reason(rawValue: "client_suspended")
        /// No administrator has approved the client, and the user is none of those who test it.
        public static let clientNotApproved = Reason(rawValue: "client_not_approved")
        /// The policy of the client does not allow the embedded web-view of the request.
        public static let webView = Reason(rawValue: "web_view")
        /// The role of the user does not allow this.
        public static let notAdministrator = Reason(rawValue: "not_administrator")
        /// Only administrators, and developers if the settings say so, register clients, and the user is none of them.
        public static let registrationClosed = Reason(rawValue: "registration_closed")
        /// The user denied the request of the client.
        public static let denied = Reason(rawValue: "denied")
        /// The page was answered before, or the device does not wait any more.
        public static let alreadyAnswered = Reason(rawValue: "already_answered")
        /// No device waits with the typed code: it is wrong, expired or answered.
        public static let userCode = Reason(rawValue: "user_code")
        /// The one-time link for the first owner is not valid any more.
        public static let setupLink = Reason(rawValue: "setup_link")
        /// The link by which a user sets a new password was used, has expired, has ended with a change of the account,
        /// or is of another browser.
        public static let userLink = Reason(rawValue: "user_link")
        /// The link to create an account was used or withdrawn, has expired, or is of another browser.
        public static let signUpLink = Reason(rawValue: "sign_up_link")
        /// The username that a person chose for a new account is taken.
        public static let usernameTaken = Reason(rawValue: "username_taken")
        /// The user declined the terms of the service.
        public static let terms = Reason(rawValue: "terms")
        /// The response of the page of the owner that signs users in does not hold.
        public static let externalSignIn = Reason(rawValue: "external_sign_in")
        /// The code was redeemed before.
        public static let codeReplay = Reason(rawValue: "code_replay")
        /// The `code_verifier` does not match (RFC 7636 §4.6).
        public static let codeVerifier = Reason(rawValue: "code_verifier")
        /// A rotated refresh token was used again.
        public static let refreshReuse = Reason(rawValue: "refresh_reuse")

        /// Every reason that this version records.
        public static let allCases: [Reason] =
            [
                .wrongPassword, .unknownUser, .newPasswordNeeded, .passkey, .secondFactor, .secondFactorAsked,
                .disabled, .accountChanged, .throttledUser,
                .throttledSource, .throttledClient, .overloaded, .cookie, .ticket, .ticketExpired, .foreignForm,
                .unreadable,
                .unknownClient, .clientDocument, .redirectURI, .pushedRequest, .clientType, .clientChanged,
                .clientDeleted, .clientSuspended, .clientNotApproved, .webView, .notAdministrator, .registrationClosed,
                .denied, .alreadyAnswered, .userCode,
                .setupLink, .userLink, .signUpLink, .usernameTaken, .terms, .externalSignIn, .codeReplay, .codeVerifier,
                .refreshReuse,
            ] + codes.map(Reason.init(_:))

        /// The error codes with which a request of a browser or a client is refused.
        package static let codes: [OAuthError.Code] = [
            .invalidRequest, .invalidClient, .invalidGrant, .unauthorizedClient, .unsupportedGrantType,
            .unsupportedResponseType, .invalidScope, .accessDenied, .loginRequired, .consentRequired,
            .interactionRequired, .unmetAuthenticationRequirements, .requestNotSupported, .requestURINotSupported,
            .registrationNotSupported, .invalidTarget, .invalidRequestURI, .expiredToken, .invalidDPoPProof,
            .temporarilyUnavailable, .serverError,
        ]

        private static let known = Set(allCases)

        /// Reads the reason at the beginning of the detail of a refusal; nil if there is none.
        package init?(of detail: String) {
            let reason = Reason(rawValue: detail.firstIndex(of: ":").map { String(detail[..<$0]) } ?? detail)
            guard Self.known.contains(reason) else { return nil }
            self = reason
        }
    }

    /// The reason of a refusal; nil if the action was carried out, or if this version does not know the reason.
    public var reason: Reason? { outcome == .refused ? detail.flatMap(Reason.init(of:)) : nil }

    /// The text of ``detail`` without the reason; nil if there is none.
    public var explanation: String? {
        guard let reason, let detail else { return detail }
        let text = detail.dropFirst(reason.rawValue.count + 1).drop { $0 == " " }
        return text.isEmpty ? nil : String(text)
    }

    /// Returns the detail of a refusal: the reason, and a text behind it.
    package static func detail(_ reason: Reason, _ text: String?) -> String {
        reason.rawValue + (text.map { ": \($0)" } ?? "")
    }
}

import CounterfoilProtocol
import CounterfoilStore
import Foundation
import WebAuthn

/// The authentication of users by passkeys.
///
/// A signature cannot be guessed, so failures count towards no limit. Successful sign-ins count as those by passwords
/// do.
struct PasskeySignIn: Sendable {
    let store: any PasskeyStore
    let settings: ServerSettings
    let throttle: SignInThrottle

    /// The outcome of a sign-in with a passkey.
    enum Outcome: Sendable {
        /// The passkey is that of the user, whose account is not disabled; the note is for the audit log.
        case signedIn(User, PasskeyUse, note: String)
        /// No user has the passkey; a browser can be told so by its credential ID.
        case unknown(credentialID: String)
        /// The assertion does not hold, or the account is disabled.
        case refused(SignIn.Cause)
        /// There were too many sign-ins; `retryAfter` is the time to wait, in seconds.
        case tooEarly(retryAfter: Int, SignIn.Cause)
    }

    /// Verifies the answer of a browser to the options on a page.
    ///
    /// - Parameters:
    ///   - json: The answer (WebAuthn §5.1, `AuthenticationResponseJSON`).
    ///   - ticket: The ticket of the form.
    ///   - confirming: The signed-in user whose passkeys the options name; nil for those of a sign-in, which name none.
    ///   - request: The request with the answer.
    ///   - now: The time of the request.
    func attempt(
        _ json: String, answering ticket: String, confirming: UserIdentifier?, in request: IncomingRequest, now: Date
    ) async throws -> Outcome {
        guard let ceremonies = PasskeyCeremonies(settings.issuer) else { return .refused(.notOffered, of: nil) }
        let response: AuthenticationResponse
        do { response = try AuthenticationResponse(json: Array(json.utf8)) } catch {
            return .refused(.ceremony(error), of: nil)
        }
        guard let facts = try await store.passkey(ArtefactDigest(ofCredentialID: response.credentialID.bytes)) else {
            return .unknown(credentialID: response.credentialID.description)
        }
        let (passkey, user) = (facts.passkey, facts.user)
        guard !facts.isSecurityKey else { return .refused(.securityKey, of: user) }
        let source = request.countedSource(settings.issuer)
        if let seconds = throttle.wait(user.id, from: source, within: settings.signInsPerMinute, now: now) {
            return .tooEarly(
                retryAfter: seconds,
                SignIn.Cause(reason: .throttledUser, user: user.id, detail: "successful sign-ins from one source"))
        }
        let assertion: VerifiedAssertion
        do {
            assertion = try ceremonies.verify(
                response, with: passkey, answering: ticket, namesUser: confirming == user.id)
        } catch {
            return .refused(error, of: user)
        }
        guard user.disabledAt == nil else { return .refused(SignIn.Cause(reason: .disabled, user: user.id)) }
        throttle.note(user.id, from: source, within: settings.signInsPerMinute, now: now)
        let use = PasskeyUse(
            digest: passkey.digest, signatureCounter: assertion.signatureCounter, isBackedUp: assertion.isBackedUp,
            challenge: ArtefactDigest(ofChallenge: ticket), challengeExpires: settings.pageEnd(from: now))
        return .signedIn(user, use, note: Self.note(assertion, passkey))
    }

    /// Returns the detail of a sign-in for the audit log.
    ///
    /// WebAuthn §7.2 step 22: a counter that does not rise can come from a copy of the key, and also from an
    /// authenticator that counts badly. The sign-in is accepted, and the log shows it.
    static func note(
        _ assertion: VerifiedAssertion, _ passkey: Passkey, called name: String = "passkey"
    ) -> String {
        guard assertion.counterWentBack else { return name }
        return "\(name), its signature counter went from \(passkey.signatureCounter) to \(assertion.signatureCounter)"
    }
}

extension PasskeySignIn.Outcome {
    fileprivate static func refused(_ refusal: PasskeyRefusal, of user: User?) -> Self {
        .refused(SignIn.Cause(reason: .passkey, user: user?.id, detail: "\(refusal)"))
    }
}

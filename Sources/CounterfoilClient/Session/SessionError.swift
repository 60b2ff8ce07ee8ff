/// The reason why a session has no usable access token, or did not send a request.
public enum SessionError: Error, Hashable, Sendable {
    /// The token store contains no credentials under this profile name that the session may use.
    ///
    /// `found` is the sign-in that is stored under the name, if it is one of another issuer or another client. The
    /// session neither uses nor changes it.
    case notSignedIn(ProfileName, found: StoredSignIn? = nil)
    /// The session has ended: the server rejected its refresh token, or issued tokens of another user, and the
    /// credentials were deleted.
    ///
    /// `afterLostResponse` is true if the response to an earlier refresh with the same refresh token did not arrive,
    /// was not readable or was not stored. The server may have replaced the refresh token in that refresh, and so
    /// rejects it now.
    case ended(SignInError, afterLostResponse: Bool)
    /// The access token has expired, and the session has no refresh token.
    case expired
    /// The server is unavailable or sent no usable response; the user stays signed in.
    case unavailable(SignInError)
    /// The user was signed out on this device, but the tokens or the session at the server could not be ended.
    case signedOutHereOnly(SignInError)
    /// The server throttles the client; the value is the time to wait, and the user stays signed in.
    case paused(seconds: Int)
    /// The user was to sign in, and the sign-in failed.
    case signInFailed(SignInError)
    /// The token store cannot be read or written.
    case store(TokenStoreError)
    /// The user signed in, but the token store could not be written then; the credentials are stored nowhere.
    ///
    /// They are valid, and only this error has them. Pass them to ``TokenSession/adopt(_:)`` when the store can be
    /// written, use them with a ``ResourceClient``, or end them with ``TokenRevocation/revoke(_:)``.
    case notStored(Credentials, TokenStoreError)
    /// There is no access token for this part of the sign-in; the user stays signed in, and the value is the reason.
    case targetRefused(AccessTarget.Refusal)
    /// The client refused to send the request to the API; the value is the reason.
    case refused(ResourceClient.Refusal)
    /// The API sent no response.
    case noResponse(TransportFailure)
    /// The waiting task was cancelled.
    case cancelled
}

extension SessionError: CustomStringConvertible {
    /// A description of the problem and its remedy, safe to show to users.
    public var description: String {
        switch self {
        case .notSignedIn(let profile, nil): "no user is signed in under the profile \(profile)"
        case .notSignedIn(let profile, let found?):
            "no user is signed in under the profile \(profile): it contains a sign-in of the client \(found.clientID)"
                + " at \(found.issuer)"
        case .ended(let error, afterLostResponse: false): "the session has ended: \(error). Sign in again"
        case .ended(let error, afterLostResponse: true):
            "the session has ended: the response to an earlier refresh was lost, and the server does not repeat it (\(error))."
                + " Sign in again"
        case .expired: "the access token has expired, and there is no refresh token. Sign in again"
        case .unavailable(let error): "the access token could not be refreshed: \(error). You are still signed in"
        case .signedOutHereOnly(let error):
            "you are signed out on this device, but not everything could be ended at the server: \(error)"
        case .paused(let seconds):
            "the server asks to wait \(seconds) s before the next attempt. You are still signed in"
        case .signInFailed(let error): "\(error)"
        case .store(let error): "\(error)"
        case .notStored(_, let error): "the user signed in, but the token could not be stored: \(error)"
        case .targetRefused(let refusal): "\(refusal)"
        case .refused(let refusal): "\(refusal)"
        case .noResponse(let failure): "\(failure)"
        case .cancelled: "the operation was cancelled"
        }
    }
}

/// The reason why a session has no usable access token, or did not send a request.
public enum SessionError: Error, Hashable, Sendable {
    /// The token store contains no credentials under this profile name.
    case notSignedIn(ProfileName)
    /// The session has ended: the server rejected its refresh token or sent an invalid ID token, and its
    /// credentials were deleted.
    ///
    /// `afterLostResponse` is true if an earlier refresh with the same refresh token was interrupted before its
    /// response was stored. The server may have replaced the refresh token in that refresh, and so rejects it now.
    case ended(SignInError, afterLostResponse: Bool)
    /// The access token has expired, and the session has no refresh token.
    case expired
    /// The server is unavailable or sent no usable response.
    ///
    /// The user stays signed in, unless the call was a sign-out, which has then deleted the credentials already.
    case unavailable(SignInError)
    /// The server throttles the client; the value is the time to wait, and the user stays signed in.
    case paused(seconds: Int)
    /// The token store cannot be read or written.
    case store(TokenStoreError)
    /// The client refused to send the request to the API; the value is the reason.
    case refused(ResourceClient.Refusal)
    /// The waiting task was cancelled.
    case cancelled
}

extension SessionError: CustomStringConvertible {
    /// A description of the problem and its remedy, safe to show to users.
    public var description: String {
        switch self {
        case .notSignedIn(let profile): "no user is signed in under the profile \(profile)"
        case .ended(let error, afterLostResponse: false): "the session has ended: \(error). Sign in again"
        case .ended(let error, afterLostResponse: true):
            "the session has ended: an earlier refresh was interrupted before its response was stored, and the server does not"
                + " repeat it (\(error)). Sign in again"
        case .expired: "the access token has expired, and there is no refresh token. Sign in again"
        case .unavailable(let error): "the access token could not be refreshed: \(error). You are still signed in"
        case .paused(let seconds):
            "the server asks to wait \(seconds) s before the next attempt. You are still signed in"
        case .store(let error): "\(error)"
        case .refused(let refusal): "\(refusal)"
        case .cancelled: "the operation was cancelled"
        }
    }
}

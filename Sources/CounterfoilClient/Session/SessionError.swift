/// Why a session has no usable access token, or did not make a call.
public enum SessionError: Error, Hashable, Sendable {
    /// Nobody is signed in under this profile.
    case notSignedIn(ProfileName)
    /// The session has ended: the server does not take its refresh token any more, and nothing of it is kept.
    ///
    /// With `afterLostAnswer` an earlier refresh was cut off before its answer was kept, which explains the refusal.
    case ended(SignInError, afterLostAnswer: Bool)
    /// The access token has expired, and the server gave nothing to refresh it with.
    case expired
    /// No new access token could be had for now; the person stays signed in.
    case unavailable(SignInError)
    /// The server asks to wait for so many seconds before the next attempt; the person stays signed in.
    case paused(seconds: Int)
    /// The store cannot be read or written.
    case store(TokenStoreError)
    /// The call was not made.
    case refused(ResourceClient.Refusal)
    /// The task that waited was cancelled.
    case cancelled
}

extension SessionError: CustomStringConvertible {
    /// What happened and what to do, safe to show.
    public var description: String {
        switch self {
        case .notSignedIn(let profile): "nobody is signed in under the profile \(profile)"
        case .ended(let error, afterLostAnswer: false): "the session has ended: \(error). Sign in again"
        case .ended(let error, afterLostAnswer: true):
            "the session has ended: an earlier refresh was cut off before its answer was kept, and the server does not"
                + " repeat it (\(error)). Sign in again"
        case .expired: "the access token has expired, and the server gave none to refresh it with. Sign in again"
        case .unavailable(let error): "no new access token could be had for now: \(error). You are still signed in"
        case .paused(let seconds):
            "the server asks to wait \(seconds) s before the next attempt. You are still signed in"
        case .store(let error): "\(error)"
        case .refused(let refusal): "\(refusal)"
        case .cancelled: "it was cancelled"
        }
    }
}

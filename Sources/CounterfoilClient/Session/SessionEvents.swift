public import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

extension TokenSession {
    /// An event of a session; it contains no token.
    public enum Event: Sendable, Hashable {
        /// The session has a new access token, with its expiration by this device's clock.
        case refreshed(expires: Date?)
        /// The ID token of a refresh could not be verified, so the session keeps the previous one and the new tokens.
        ///
        /// The reason may be a wrong clock, or keys that are unavailable. The user stays signed in.
        case idTokenDiscarded(SignInError)
        /// The response to a refresh contained these optional members with invalid values, which count as absent
        /// (RFC 6749 §5.1).
        ///
        /// Without `expires_in`, the session uses the token until the API rejects it.
        case membersIgnored([String])
        /// Another process of this user stored a new access token, which the session uses from now on.
        case refreshedElsewhere(expires: Date?)
        /// The session has a new access token, but could not store it.
        ///
        /// The session uses the token as long as the session exists, and tries to store it with the next refresh.
        case refreshedButNotSaved(expires: Date?, TokenStoreError)
        /// A refresh failed; the user stays signed in.
        case refreshFailed(SignInError)
        /// The session has ended, and its credentials were deleted.
        case ended(SignInError)
        /// The user signed in, and the session uses the new credentials.
        case signedIn
        /// Another process stored the credentials of a new sign-in, which the session uses from now on.
        case signedInElsewhere
        /// The user signed out, in this process or in another one, and the stored credentials were deleted.
        case signedOut
    }
}

/// A sender of events to all listeners; a listener with more than 32 unread events loses the oldest of them.
final class EventBroadcast<Event: Sendable>: Sendable {
    private static var bufferSize: Int { 32 }

    private let observers = Mutex<[@Sendable (Event) -> Void]>([])
    private let listeners = Mutex<(next: Int, continuations: [Int: AsyncStream<Event>.Continuation])>((0, [:]))

    /// Calls a function with each event from now on, before the operation that caused it returns.
    func observe(_ observer: @escaping @Sendable (Event) -> Void) { observers.withLock { $0.append(observer) } }

    func send(_ event: Event) {
        for observer in observers.withLock(\.self) { observer(event) }
        for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.yield(event) }
    }

    func stream() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(Self.bufferSize))
        let id = listeners.withLock { listeners in
            listeners.next += 1
            listeners.continuations[listeners.next] = continuation
            return listeners.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: id) }
        }
        return stream
    }

    deinit {
        for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.finish() }
    }
}

public import Foundation
import Synchronization

extension TokenSession {
    /// Something that happens to a session; none of it holds a token.
    public enum Event: Sendable, Hashable {
        /// A new access token is there, which expires then by this device's clock.
        case refreshed(expires: Date?)
        /// Another process of this person has refreshed; its access token is used.
        case refreshedElsewhere(expires: Date?)
        /// A new access token is there, which expires then, but the store could not be written.
        ///
        /// It serves for as long as this session value lives, and is kept with the next refresh if that can be.
        case refreshedUnkept(expires: Date?, TokenStoreError)
        /// A refresh failed, and the person stays signed in.
        case refreshFailed(SignInError)
        /// The session is over, and nothing of it is kept.
        case ended(SignInError)
        /// The person signed out.
        case signedOut
    }
}

/// Tells everybody who listens; whoever does not keep up loses the oldest.
final class EventBroadcast<Event: Sendable>: Sendable {
    private static var bufferSize: Int { 32 }

    private let listeners = Mutex<(next: Int, continuations: [Int: AsyncStream<Event>.Continuation])>((0, [:]))

    func send(_ event: Event) {
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

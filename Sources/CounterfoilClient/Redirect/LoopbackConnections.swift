import NIOCore
import Synchronization

/// The open connections to a receiver, the oldest first.
///
/// Browsers open connections ahead of need and leave them silent. They cost next to nothing, and beyond a number the oldest
/// are closed, so that nobody can use up the process's files.
final class LoopbackConnections: Sendable {
    static let limit = 100

    private let channels = Mutex<[any Channel]>([])

    func add(_ channel: any Channel) {
        let oldest = channels.withLock { channels in
            channels.append(channel)
            return channels.count > Self.limit ? channels.removeFirst() : nil
        }
        oldest?.close(promise: nil)
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.channels.withLock { $0.removeAll { $0 === channel } }
        }
    }

    func closeAll() async {
        let open = channels.withLock { $0 }
        for channel in open {
            try? await channel.close().get()
        }
    }
}

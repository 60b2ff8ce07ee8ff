#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Waiting for a socket until a deadline.
enum SocketWait {
    enum Events {
        case reading, writing, both

        fileprivate var mask: Int16 {
            switch self {
            case .reading: Int16(POLLIN)
            case .writing: Int16(POLLOUT)
            case .both: Int16(POLLIN | POLLOUT)
            }
        }
    }

    enum Outcome {
        case ready(isReadable: Bool)
        case timedOut
        /// The descriptor is not open.
        case failed
    }

    static func wait(_ socket: Int32, for events: Events, until deadline: ContinuousClock.Instant) -> Outcome {
        guard socket >= 0 else { return .failed }
        while true {
            let left = deadline - .now
            guard left > .zero else { return .timedOut }
            // One more millisecond, so that the last wait does not end before the deadline. A long wait is repeated.
            let milliseconds = Int32(min(left, .seconds(3600)) / .milliseconds(1)) + 1
            var entry = pollfd(fd: socket, events: events.mask, revents: 0)
            let count = poll(&entry, 1, milliseconds)
            if count > 0 {
                if Int32(entry.revents) & Int32(POLLNVAL) != 0 { return .failed }
                return .ready(isReadable: Int32(entry.revents) & Int32(POLLIN | POLLHUP | POLLERR) != 0)
            }
            if count < 0 && errno != EINTR && errno != EAGAIN { return .failed }
        }
    }

    /// Returns true if a read would not wait: there is data, or the end of the stream.
    static func isReadable(_ socket: Int32) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }
}

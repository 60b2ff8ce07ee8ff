@_spi(Counterfoil) import CounterfoilProtocol

/// The redirect of a loopback receiver from its ``LocalStartURL`` to a server.
final class StartRedirect: Sendable {
    private struct Start {
        let path: String
        let destination: BrowserURL
        var isUsed = false
    }

    private let start = Mutex<Start?>(nil)

    /// Sets the destination, and returns the path of a new URL that leads there.
    func prepare(for destination: BrowserURL, random: RandomBytes = RandomBytes()) -> String {
        let path = "/start/\(Base64URL.encode(random.bytes(16)))"
        start.withLock { $0 = Start(path: path, destination: destination) }
        return path
    }

    /// Returns true if a path is that of the URL.
    func owns(_ path: String) -> Bool {
        start.withLock { $0.map { $0.path.utf8.elementsEqual(path.utf8) } ?? false }
    }

    /// Returns the destination to the first caller; nil to every later one.
    func use() -> BrowserURL? {
        start.withLock { start in
            guard let unused = start, !unused.isUsed else { return nil }
            start?.isUsed = true
            return unused.destination
        }
    }
}

import CounterfoilClient

/// Loopback ports that nothing listens on and that the kernel assigns to no socket.
///
/// Linux assigns ports from 32768 and Darwin from 49152 on, so a port below both that is unused stays so while
/// other tests listen and connect.
enum UnassignedPort {
    /// An error: none of a hundred ports was unused.
    struct NoneLeft: Error {}

    static func one() async throws -> Int {
        for port in (0..<100).map({ _ in Int.random(in: 20_000..<32_000) }) {
            let uri = try LoopbackRedirectURI("http://localhost:\(port)/callback")
            guard let receiver = try? await LoopbackReceiver.listen(at: uri) else { continue }
            await receiver.close()
            return port
        }
        throw NoneLeft()
    }
}

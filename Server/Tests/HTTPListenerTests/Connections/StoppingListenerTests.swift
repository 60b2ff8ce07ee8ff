import Foundation
import TestSupport
import Testing

@testable import HTTPListener

/// The deadline that listeners share, and the check of a Unix socket before it is replaced.
struct StoppingListenerTests {
    @Test func `all listeners end at the earliest moment that was set`() {
        let deadline = StopDeadline()
        let start = ContinuousClock.now
        #expect(deadline.end(within: .seconds(30)) >= start + .seconds(30))
        deadline.set(start + .seconds(20))
        deadline.set(start + .seconds(40))
        #expect(deadline.end(within: .seconds(30)) == start + .seconds(20))
        deadline.set(start + .seconds(5))
        #expect(deadline.end(within: .seconds(30)) == start + .seconds(5))
        #expect(deadline.end(within: .seconds(1)) < start + .seconds(5))
    }

    @Test func `a Unix socket whose program is busy is in use`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("busy.sock")
        let busy = try UnixSocket(at: path, backlog: 0)
        defer { close(busy.descriptor) }
        // Each attempt fills the queue of the program, which accepts none. A connect that waits would never end.
        for _ in 0..<4 {
            #expect(throws: UnixSocket.Refusal.inUse(path)) { try UnixSocket(at: path, backlog: 1) }
        }
        busy.remove()
    }
}

import CounterfoilProtocol
import Foundation
import Synchronization

@testable import CounterfoilClient

/// Text that a user pastes, as bytes of standard input and as lines (`PastedLines`, `PasteReceiver`).
enum PastedTarget {
    /// The most lines that are buffered until they are read.
    private static let lineCount = 16

    static func examine(_ bytes: [UInt8]) {
        let ends: Set<UInt8> = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
        var expected = bytes.split(omittingEmptySubsequences: false) { ends.contains($0) }
            .map { String(decoding: $0, as: UTF8.self) }
        // Text after the last line end is a line only if it is not empty.
        if expected.last?.isEmpty == true { expected.removeLast() }
        guard expected.count <= lineCount, bytes.count <= 16 * 1024 else { return }

        let lines = waiting { await read(bytes) }
        require(
            lines.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "the lines are not those that were pasted")
        waiting { await answer(with: lines) }
    }

    private static func read(_ bytes: [UInt8]) async -> [String] {
        let input = Pipe()
        let pasted = PastedLines(from: input.fileHandleForReading.fileDescriptor)
        try? input.fileHandleForWriting.write(contentsOf: bytes)
        try? input.fileHandleForWriting.close()
        var lines: [String] = []
        while let line = await pasted.next() { lines.append(line) }
        pasted.stop()
        try? input.fileHandleForReading.close()
        return lines
    }

    /// Checks that every line but the response is refused with a printable message, and that the end of input
    /// ends the wait.
    private static func answer(with lines: [String]) async {
        guard let state = OAuthState("Tm90aGluZyBidXQgYSBzdGF0ZQ"),
            let redirectURI = try? RedirectURI("http://127.0.0.1:4711/callback"),
            let issuer = try? Issuer("https://id.example.com")
        else { return }
        let rest = Mutex(lines[...])
        let refusals = Mutex<[PasteReceiver.Refusal]>([])
        let receiver = PasteReceiver(
            at: redirectURI, lines: { rest.withLock { $0.popFirst() } },
            onRefusal: { refusal in refusals.withLock { $0.append(refusal) } })
        receiver.expect(
            CallbackExpectation(
                redirectURI: redirectURI, state: state,
                question: .authorization(.init(issuer: issuer, issuerIsRequired: false, callbackServer: nil))))
        let callback = try? await receiver.callback(within: .seconds(60))
        for refusal in refusals.withLock({ $0 }) {
            require(isSafeToShow(refusal.description), "a refusal that cannot be shown")
        }
        if let callback {
            require(
                (try? callback.parameters.single("state")) == state.exposed, "an answer to another sign-in is taken")
        } else {
            require(refusals.withLock { $0.count } == lines.count, "a line is neither the answer nor refused")
        }
    }
}

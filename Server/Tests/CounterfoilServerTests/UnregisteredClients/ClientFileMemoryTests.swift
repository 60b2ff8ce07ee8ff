@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@testable import CounterfoilServer

/// The maximum size of the cached files of unregistered clients, with a cache of 100 bytes.
struct ClientFileMemoryTests {
    /// A cache of 100 bytes, and the number of requests to the host.
    private final class Shelf {
        private let hosts = ScriptedClientFiles()
        private let files: ClientFiles
        var now = Date(timeIntervalSince1970: 1_800_000_000)

        init() { files = ClientFiles(fetcher: hosts, limits: ClientFiles.Limits(bytes: 100)) }

        /// Reads a file of 40 bytes a second later, and returns the number of requests so far.
        func read(_ name: String, isInUse: Bool = false) async throws -> Int {
            now += 1
            let url = "https://\(name).example/file"
            hosts.set(url, .answered(.init(status: 200, body: [UInt8](repeating: 0x61, count: 40))))
            let request = ClientFileRequest(url: try AbsoluteURI(parsing: url), accepting: "*/*", byteLimit: 1000)
            _ = try await files.file(.logo, request, isInUse: isInUse, now: now)
            return hosts.requests.count
        }
    }

    @Test func `beyond the size of the cache, the file that was used longest ago is dropped`() async throws {
        #expect(ClientFiles.Limits().bytes == 16 * 1024 * 1024)
        let shelf = Shelf()
        #expect(try await shelf.read("a") == 1)
        #expect(try await shelf.read("b") == 2)
        #expect(try await shelf.read("a") == 2)
        // Three files have 120 bytes, so b is dropped.
        #expect(try await shelf.read("c") == 3)
        #expect(try await shelf.read("a") == 3)
        #expect(try await shelf.read("c") == 3)
        #expect(try await shelf.read("b") == 4)
        #expect(try await shelf.read("c") == 4)
        #expect(try await shelf.read("a") == 5)
    }

    @Test func `a file of a client that a user allows something is dropped last`() async throws {
        let shelf = Shelf()
        #expect(try await shelf.read("stored", isInUse: true) == 1)
        #expect(try await shelf.read("b") == 2)
        #expect(try await shelf.read("c") == 3)
        #expect(try await shelf.read("stored") == 3)
        #expect(try await shelf.read("b") == 4)
    }

    @Test func `a file that is received again counts once`() async throws {
        let shelf = Shelf()
        for round in 0..<5 {
            #expect(try await shelf.read("a") == 2 * round + 1)
            #expect(try await shelf.read("b") == 2 * round + 2)
            #expect(try await shelf.read("a") == 2 * round + 2)
            shelf.now += 300
        }
    }
}

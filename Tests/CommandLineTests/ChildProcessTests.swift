@_spi(Counterfoil) import CounterfoilClient
import Foundation
import TestSupport
import Testing

/// Programs that this process starts, such as the browser.
struct ChildProcessTests {
    /// Opens a file again and again without `O_CLOEXEC`, as code of others does, until its task is cancelled.
    private static func openFiles() async {
        while !Task.isCancelled {
            let descriptors = (0..<20).map { _ in open("/dev/null", O_RDONLY) }
            await Task.yield()
            for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
        }
    }

    @Test func `a program inherits no file that another thread opens while it starts`() async throws {
        let busy = (0..<3).map { _ in Task { await Self.openFiles() } }
        defer { for task in busy { task.cancel() } }
        for _ in 0..<60 {
            let output = try OutputPipe()
            let process = try ChildProcess(
                path: "/bin/sh", arguments: ["-c", "for file in /proc/$$/fd/*; do readlink \"$file\"; done; exit 0"],
                environment: ["PATH": "/usr/bin:/bin"], standardOutput: output.writingEnd)
            let files = await output.text().split(separator: "\n")
            #expect(await process.exitStatus == 0)
            #expect(files.filter { $0 == "/dev/null" }.count == 2, "\(files)")
        }
    }
}

import Foundation
import TestSupport

/// The process of the server of a site.
struct ServerProcess {
    /// An error: there is no process for this site.
    struct NotFound: Error {}

    private let id: Int32

    init(of site: Site) throws {
        for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let id = Int32(entry), id != getpid(),
                let line = FileManager.default.contents(atPath: "/proc/\(id)/cmdline")
            else { continue }
            let arguments = String(decoding: line, as: UTF8.self).split(separator: "\0").map(String.init)
            if arguments.first?.hasSuffix("counterfoil-server") == true, arguments.contains("127.0.0.1:\(site.port)") {
                self.id = id
                return
            }
        }
        throw NotFound()
    }

    /// Ends the process immediately, as a power failure does.
    func kill() { Foundation.kill(id, SIGKILL) }

    /// Stops the process, as the pause of a virtual machine does, and waits until each of its threads is stopped.
    func pause() async throws {
        Foundation.kill(id, SIGSTOP)
        _ = try await Waiting.until("the stop of the server") {
            let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")
            return threads.allSatisfy { state(of: $0) == "T" } ? true : nil
        }
    }

    /// Lets a stopped process continue.
    func resume() { Foundation.kill(id, SIGCONT) }

    /// The state of a thread, the third field of its statistics: `T` if it is stopped.
    private func state(of thread: String) -> Character? {
        let line = FileManager.default.contents(atPath: "/proc/\(id)/task/\(thread)/stat") ?? Data()
        // The name of the thread is in parentheses, and can contain spaces.
        return String(decoding: line, as: UTF8.self).split(separator: ")").last?.first { $0 != " " }
    }
}

import Foundation
import TestSupport
import Testing

@testable @_spi(Counterfoil) import CounterfoilClient

struct DesktopEntryTests {
    private func entry(_ program: String, _ arguments: [String] = ["receive-redirect"], name: String = "Lightbox")
        -> DesktopEntry
    {
        DesktopEntry(
            scheme: "com.example.app",
            handler: RedirectHandler(program: program, arguments: arguments, name: name))
    }

    private func exec(_ entry: DesktopEntry) -> String? {
        entry.text.split(separator: "\n").first { $0.hasPrefix("Exec=") }.map { String($0.dropFirst(5)) }
    }

    @Test func `the URL is one argument, and the scheme is the MIME type`() {
        let entry = entry("/opt/lightbox/lightbox")
        #expect(exec(entry) == "/opt/lightbox/lightbox receive-redirect %u")
        #expect(entry.text.contains("\nMimeType=x-scheme-handler/com.example.app;\n"))
        #expect(entry.text.contains("\nNoDisplay=true\n"))
        #expect(DesktopEntry.scheme(ofFile: entry.fileName) == "com.example.app")
        #expect(DesktopEntry.scheme(ofFile: "lightbox.desktop") == nil)
    }

    @Test(arguments: [
        ("/opt/my app/x", #""/opt/my app/x""#), ("/opt/100%", "/opt/100%%"), (#"/opt/a"b"#, #""/opt/a\\"b""#),
        ("/opt/$(reboot)", #""/opt/\\$(reboot)""#), (#"/opt/a\b"#, #""/opt/a\\\\b""#), ("/opt/a;b", #""/opt/a;b""#),
    ])
    func `a path with reserved characters is quoted`(path: String, quoted: String) {
        #expect(exec(entry(path)) == "\(quoted) receive-redirect %u")
    }

    @Test func `a name cannot inject lines`() {
        let text = entry("/x", name: "A\nExec=/bin/evil\u{1B}[2J \\n").text
        #expect(text.split(separator: "\n").count { $0.hasPrefix("Exec=") } == 1)
        #expect(text.contains("\nName=AExec=/bin/evil[2J \\\\n\n"))
    }

    @Test(
        .enabled("desktop-file-validate is not installed (Debian: apt-get install desktop-file-utils)") {
            FileManager.default.isExecutableFile(atPath: "/usr/bin/desktop-file-validate")
        })
    func `desktop-file-validate accepts the entry`() async throws {
        let directory = try TemporaryDirectory()
        for (index, program) in ["/usr/bin/lightbox", "/opt/my \"app\"/$x%"].enumerated() {
            let file = directory.file("entry-\(index).desktop")
            try Data(entry(program).text.utf8).write(to: file)
            let output = try OutputPipe()
            let check = try ChildProcess(
                path: "/usr/bin/desktop-file-validate", arguments: [file.path], environment: [:],
                standardOutput: output.writingEnd)
            let told = await output.text()
            #expect(await check.exitStatus == 0)
            #expect(told == "")
        }
    }
}

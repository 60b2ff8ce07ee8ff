import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of `counterfoil login --device`: the QR code, the clipboard and the time to wait.
@Suite(.timeLimit(.minutes(5)))
struct DeviceCommandTests {
    private static func login(_ server: ScriptedAuthorizationServer, _ arguments: [String]) -> [String] {
        ["login", server.issuer.rawValue, "--client-id", "lightbox", "--device"] + arguments
    }

    /// Runs a sign-in on a terminal of a size, and returns what the terminal shows.
    private static func shown(
        by server: ScriptedAuthorizationServer, _ arguments: [String] = [], columns: UInt16 = 100, rows: UInt16 = 50,
        environment: [String: String] = [:]
    ) async throws -> String {
        let directory = try TemporaryDirectory()
        let terminal = try Terminal()
        defer { terminal.end() }
        terminal.resize(columns: columns, rows: rows)
        let status = try await terminal.run(
            login(server, arguments), home: directory.url, environment: environment
        ) { _ in try await terminal.shows("press Control-C to stop") }
        #expect(status == 0, "\(terminal.text)")
        return terminal.text
    }

    // RFC 8628 §3.3.1
    @Test(
        .enabled(if: DrawnQRCode.canBeRead, "zbarimg is not installed"),
        arguments: [
            ([:], true), (["NO_COLOR": "1"], false), (["TERM": "dumb"], false),
        ] as [([String: String], Bool)])
    func `a QR code on the terminal contains the URL with the code`(
        environment: [String: String], isColored: Bool
    ) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let text = try await Self.shown(by: server, environment: environment)
            let drawing = try #require(DrawnQRCode(in: text), "\(text)")
            let url = "\(server.url(of: .verification))?user_code=BDWP-HQPK"
            #expect(text.contains("Or open this URL, which contains the code: \(url)\r\n"))
            #expect(drawing.isColored == isColored)
            #expect(try await drawing.text() == url)
        }
    }

    @Test(.enabled(if: DrawnQRCode.canBeRead, "zbarimg is not installed"))
    func `--qr always also draws into a pipe, and the URL alone if there is no other`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript()
        script.device.hasCompleteAddress = false
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.run(Self.login(server, ["--qr", "always"]), home: directory.url)
            #expect(login.status == 0, "\(login.errors)")
            #expect(!login.errors.contains("\u{1B}"))
            let drawing = try #require(DrawnQRCode(in: login.errors), "\(login.errors)")
            #expect(try await drawing.text() == server.url(of: .verification))
        }
    }

    @Test(arguments: [(["--qr", "never"], 100), (["--json"], 100), ([], 36)] as [([String], UInt16)])
    func `no QR code is drawn if it is not wanted or does not fit`(arguments: [String], columns: UInt16) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let text = try await Self.shown(by: server, arguments, columns: columns)
            #expect(DrawnQRCode(in: text) == nil)
            #expect(!text.contains("\u{1B}"))
            #expect(text.contains("it needs a terminal of 37 columns and 19 rows") == (columns == 36), "\(text)")
        }
    }

    @Test func `nothing is drawn into a pipe, and the program waits as long as the code is valid`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript()
        script.device.expiresIn = 1800
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.run(Self.login(server, []), home: directory.url)
            #expect(login.status == 0)
            #expect(DrawnQRCode(in: login.errors) == nil && !login.errors.contains("QR"))
            #expect(login.errors.contains("Waiting 30 minutes for your approval on another device"))
        }
    }

    @Test(arguments: [(600, "10 minutes"), (90, "1 minute 30 seconds"), (3601, "1 hour 1 second"), (45, "45 seconds")])
    func `the time to wait is printed in words`(seconds: Int, words: String) async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript()
        script.device.expiresIn = 7200
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await CommandLineTool.run(
                Self.login(server, ["--timeout", "\(seconds)"]), home: directory.url)
            #expect(login.errors.contains("Waiting \(words) for your approval"), "\(login.errors)")
        }
    }

    @Test func `a missing library is one line, and the sign-in continues`() async throws {
        let directory = try TemporaryDirectory()
        // The linker finds this file first, and cannot load it.
        try Data("none".utf8).write(to: directory.file("libqrencode.so.4"))
        try await ScriptedAuthorizationServer.run { server in
            let text = try await Self.shown(by: server, environment: ["LD_LIBRARY_PATH": directory.url.path])
            #expect(text.contains("\r\nNo QR code is shown: libqrencode is not installed (Debian and Ubuntu: "))
            #expect(DrawnQRCode(in: text) == nil)
        }
    }

    @Test(
        arguments: [
            ("wl-copy", ["WAYLAND_DISPLAY": "wayland-1", "DISPLAY": ":1"]), ("xclip", ["DISPLAY": ":1"]),
        ] as [(String, [String: String])])
    func `a program of the desktop gets the code on its standard input`(
        name: String, environment: [String: String]
    ) async throws {
        let directory = try TemporaryDirectory()
        let (copied, arguments) = (directory.path("copied"), directory.path("arguments"))
        _ = try Shell.script(name, "#!/bin/sh\ncat > '\(copied)'\necho \"$*\" > '\(arguments)'\n", in: directory)
        try await ScriptedAuthorizationServer.run { server in
            let path = ["PATH": "\(directory.url.path):/usr/bin:/bin"]
            let text = try await Self.shown(by: server, ["--copy"], environment: environment.merging(path) { $1 })
            #expect(text.contains("The code was copied to the clipboard.\r\n"), "\(text)")
            #expect(!text.contains("\u{1B}]52;"))
        }
        #expect(try String(contentsOfFile: copied, encoding: .utf8) == "BDWP-HQPK")
        #expect(!(try String(contentsOfFile: arguments, encoding: .utf8)).contains("BDWP"))
    }

    @Test(arguments: [true, false])
    func `a terminal is asked to copy the code where no program can`(fails: Bool) async throws {
        let directory = try TemporaryDirectory()
        if fails { _ = try Shell.script("xclip", "#!/bin/sh\nexit 1\n", in: directory) }
        try await ScriptedAuthorizationServer.run { server in
            let path = ["PATH": directory.url.path].merging(fails ? ["DISPLAY": ":1"] : [:]) { $1 }
            let text = try await Self.shown(by: server, ["--copy"], environment: path)
            #expect(text.contains("\u{1B}]52;c;\(Data("BDWP-HQPK".utf8).base64EncodedString())\u{7}"), "\(text)")
            #expect(text.contains("The terminal was asked to copy the code to the clipboard (OSC 52)."))

            // A pipe is no terminal, and gets no escape sequence.
            let login = try await CommandLineTool.run(
                Self.login(server, ["--copy"]), home: directory.url, environment: path)
            #expect(login.errors.contains("The code was not copied: there is no terminal,"), "\(login.errors)")
            #expect(!login.errors.contains("\u{1B}"))
        }
    }

    // The URL of the device flow is only printed, whatever --browser says.
    @Test func `--browser print is accepted with --device`() async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run { server in
            let login = try await CommandLineTool.run(
                Self.login(server, ["--browser", "print"]), home: directory.url)
            #expect(login.status == 0, "\(login.errors)")
            #expect(login.errors.contains("Open: \(server.url(of: .verification))\nCode: BDWP-HQPK\n"))
        }
    }

    @Test(arguments: [
        (["--copy"], "--qr and --copy require --device."), (["--qr", "always"], "--qr and --copy require --device."),
        (["--device", "--copy", "--json"], "are for people at a terminal; omit --json."),
        (["--device", "--qr", "always", "--json"], "are for people at a terminal; omit --json."),
    ])
    func `options without an effect are refused`(arguments: [String], words: String) async throws {
        let directory = try TemporaryDirectory()
        let login = try await CommandLineTool.run(
            ["login", "https://id.example.com", "--client-id", "lightbox"] + arguments, home: directory.url)
        #expect(login.status == 64)
        #expect(login.errors.contains(words), "\(login.errors)")
    }
}

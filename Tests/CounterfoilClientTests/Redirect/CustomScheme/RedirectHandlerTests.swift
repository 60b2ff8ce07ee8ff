#if os(Linux)
    import Testing

    @testable import CounterfoilClient

    /// Tests of the program that the desktop starts with a callback URL.
    struct RedirectHandlerTests {
        @Test(arguments: [
            ("/usr/bin/lightbox", ["/usr/bin/lightbox"], "/usr/bin/lightbox"),
            // An upgrade has replaced the file.
            ("/usr/bin/lightbox (deleted)", ["/usr/bin/lightbox"], "/usr/bin/lightbox"),
            // Nothing is at the path any more; the process still runs.
            ("/usr/bin/lightbox (deleted)", [], "/proc/42/exe"),
            // A file can have such a name.
            ("/opt/lightbox (deleted)", ["/opt/lightbox (deleted)"], "/opt/lightbox (deleted)"),
        ])
        func `a program that was upgraded while it runs is still started`(
            link: String, files: [String], program: String
        ) {
            let handler = RedirectHandler(executable: link, ofProcess: 42) { files.contains($0) }
            #expect(handler.program == program)
            #expect(handler.name.hasPrefix("lightbox"))
        }

        @Test func `the program of this process exists`() {
            #expect(RedirectHandler.thisProgram.program.hasPrefix("/"))
        }
    }
#endif

import Testing

@testable import CounterfoilClient

struct MimeApplicationsTests {
    private let type = "x-scheme-handler/com.example.app"

    private func edited(_ text: String, _ edit: (inout MimeApplications) -> Void) -> String {
        var applications = MimeApplications(Array(text.utf8))
        edit(&applications)
        return String(decoding: applications.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        "", "\n", "[Default Applications]\ntext/plain=vim.desktop;\n", "[Default Applications]\ntext/plain=vim.desktop",
        "# mine\n\n[Added Associations]\ntext/html=a.desktop;\n\n\n[Default Applications]\nx=y\n\n[Removed Associations]\n",
        "[Default Applications]\nx-scheme-handler/com.example.app=old.desktop\n",
        "[Default Applications]\nx-scheme-handler/com.example.app = old.desktop;older.desktop;\n[x]\n",
        "[Default Applications]\nx-scheme-handler/com.example.app.more=z.desktop;\nx-scheme-handler/com=z.desktop;",
        "[Added Associations]\nx-scheme-handler/com.example.app=a.desktop;\n",
        "[Default Applications] \r\ntext/plain=vim.desktop;\r\n",
    ])
    func `adding an entry and removing it again leaves every byte unchanged`(text: String) {
        let put = edited(text) { $0.put("ours.desktop", first: type) }
        #expect(put != text)
        #expect(put.contains("x-scheme-handler/com.example.app=ours.desktop;") || put.contains(" = ours.desktop;old"))
        #expect(edited(put) { $0.put("ours.desktop", first: type) } == put)
        #expect(edited(put) { $0.remove("ours.desktop", as: type) } == text)
    }

    @Test func `bytes that are not UTF-8 are preserved`() {
        let bytes: [UInt8] = Array("[Default Applications]\nx=".utf8) + [0xFF, 0x00, 0x0A]
        var applications = MimeApplications(bytes)
        applications.put("ours.desktop", first: type)
        applications.remove("ours.desktop", as: type)
        #expect(applications.bytes == bytes)
    }

    @Test func `the previous default comes second, and foreign entries are preserved`() {
        let text = "[Default Applications]\nx-scheme-handler/com.example.app=old.desktop;\n"
        #expect(
            edited(text) { $0.put("ours.desktop", first: type) }
                == "[Default Applications]\nx-scheme-handler/com.example.app=ours.desktop;old.desktop;\n")
        #expect(edited(text) { $0.remove("ours.desktop", as: type) } == text)
    }
}

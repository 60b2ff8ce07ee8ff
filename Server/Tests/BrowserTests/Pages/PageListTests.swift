import Foundation
import TestSupport
import Testing

/// The lists of pages, walks and screenshots are complete.
struct PageListTests {
    @Test func `every page has a journey, an accessibility check and a screenshot`() {
        for page in PageKind.allCases {
            #expect(Screen.allCases.contains { $0.page == page }, "\(page)")
        }
        for walk in Walk.allCases {
            #expect(Screen.allCases.contains { $0.walk == walk }, "\(walk)")
        }
    }

    @Test func `every template of a page is listed`() throws {
        let templates = try ["CounterfoilPages", "CounterfoilConsole"].flatMap { module in
            let folder = Repository.root.appendingPathComponent("Server/Sources/\(module)/Templates").path
            return try FileManager.default.contentsOfDirectory(atPath: folder)
                .filter { $0.hasSuffix(".mustache") }.map { String($0.dropLast(".mustache".count)) }
        }
        let pages = Set(templates).subtracting(["layout", "console-layout"])
        #expect(pages == Set(PageKind.allCases.map(\.rawValue)))
    }

    @Test func `every page outside the console has a sample`() {
        let sampled = Set(SamplePage.all.map { PageKind($0.page) })
        #expect(sampled.isSuperset(of: PageKind.allCases.filter { !$0.isOfConsole }))
        let names = SamplePage.all.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: [
        "README.md", "docs/guide/native-apps.md", "docs/guide/passkeys.md", "docs/guide/second-factor.md",
        "docs/guide/recovery.md",
    ])
    func `the documentation shows only screenshots that are taken and kept`(document: String) throws {
        let text = try Repository.text(document)
        let shown = text.matches(of: /screens\/([\w-]+)\.png/).map { String($0.output.1) }
        // The client, not the server, sends the page that says that the window may be closed.
        let made = Set(Screen.allCases.flatMap(\.pictures) + Viewport.all.map { "closing-\($0.suffix)" })
        #expect(!shown.isEmpty)
        #expect(shown.filter { !made.contains($0) } == [])
        let files = Repository.root.appendingPathComponent("docs/screens")
        let missing = shown.filter { name in
            !FileManager.default.fileExists(atPath: files.appendingPathComponent("\(name).png").path)
        }
        #expect(missing == [], "script/screens makes them")
    }
}

// Windows of macOS.

@_exported import Foundation

@MainActor open class NSResponder: NSObject {
    public nonisolated override init() {}
}

@MainActor open class NSWindow: NSResponder {
    public nonisolated override init() {}
    open var isVisible: Bool { false }
}

@MainActor open class NSApplication: NSResponder {
    open class var shared: NSApplication { NSApplication() }
    open var keyWindow: NSWindow? { nil }
    open var mainWindow: NSWindow? { nil }
    open var windows: [NSWindow] { [] }
    open var isRunning: Bool { false }
}

@MainActor open class NSWorkspace: NSObject {
    open class var shared: NSWorkspace { NSWorkspace() }
    open func open(_ url: URL) -> Bool { false }
    public nonisolated override init() {}
}

/// The application, or nil before its first use.
@MainActor public var NSApp: NSApplication? { nil }

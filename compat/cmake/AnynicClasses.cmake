# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ANYNIC_CLASSES: the class names, read from the one table that lists them.
set(ANYNIC_CLASSES_DEF ${CMAKE_SOURCE_DIR}/providers/common/classes.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ANYNIC_CLASSES_DEF})
file(STRINGS ${ANYNIC_CLASSES_DEF} class_rows REGEX "^NIC_CLASS\\(")
set(ANYNIC_CLASSES)
foreach(row ${class_rows})
    string(REGEX REPLACE "^NIC_CLASS\\(([a-z0-9_]+).*" "\\1" name "${row}")
    list(APPEND ANYNIC_CLASSES ${name})
endforeach()
